/** What Git needs to be told about a lane. */
export type GitLane =
  | {
      readonly kind: 'worktree';
      readonly top: string;
      readonly commonDir: string;
      readonly metadataDir: string;
    }
  | { readonly kind: 'checkout'; readonly top: string; readonly commonDir: string }
  | { readonly kind: 'plain'; readonly top: string };

/**
 * Variables for every Git in a lane: nothing of the machine's or the operator's configuration, no prompts, no
 * housekeeping behind the back of other lanes, and no writes to the shared configuration that nobody asked
 * for. `safe.directory` names exactly the lane. `gitConfig` is the worker-written global configuration.
 */
export function gitEnvironment(lane: GitLane, gitConfig: string): Record<string, string> {
  const settings: readonly (readonly [string, string])[] = [
    ['safe.directory', lane.top],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['branch.autoSetupMerge', 'false'],
  ];
  return {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: gitConfig,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    CODELANES_LANE: lane.kind,
    ...(lane.kind === 'plain' ? {} : { CODELANES_GIT_COMMON_DIR: lane.commonDir }),
    ...(lane.kind === 'worktree' ? { CODELANES_GIT_METADATA: lane.metadataDir } : {}),
  };
}
