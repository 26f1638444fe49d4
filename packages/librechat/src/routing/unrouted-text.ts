import type { UnroutedReason } from './to-lane-request.js';

/** Why a request was not routed, as a sentence that a host can show to a person or a model. */
export const unroutedText: Readonly<Record<UnroutedReason, string>> = {
  conversation_instance: 'This conversation works in a clone of its own, which has no lanes.',
  environment_action: 'Environment actions run for the whole workspace, unless they name a lane.',
  instructions: 'Instructions are read at the top of the workspace.',
  explicit_lane: 'The call names its lane, and its paths are relative to that.',
  no_path:
    'The call names no path, so it is for the whole workspace and waits for every lane. Give a path, or a cwd for a command: "cd" in its text selects no lane.',
  invalid_worktree_name:
    'No worktree can have that name: letters, digits, ".", "_" and "-", beginning with a letter or digit and not ending in ".lock". The call is for the whole workspace.',
  outside_lanes: 'The path lies in no lane, so the call is for the whole workspace and waits for every lane.',
  lane_directory: 'The path is the folder of a lane itself, and no file in it.',
  cursor_outside_lane: 'The list would go on in another lane. Continue it with the path that it began with.',
};
