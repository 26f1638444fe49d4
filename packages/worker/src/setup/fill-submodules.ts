/**
 * Shell text that fills the empty submodules of a new worktree, run in its wall before the setup's own command. Git
 * leaves them empty there. They are cloned from the copies in the checkout's Git directory, which the lane can read,
 * so that no network is needed; their remote stays what it is. What the checkout does not have, or has not at that
 * commit, stays as it is: the lane's first command is told which are empty.
 */
export const fillSubmodules = `
if [ -f .gitmodules ]; then
  git config --file .gitmodules --name-only --get-regexp '^submodule\\..*\\.path$' | while IFS= read -r key; do
    path=$(git config --file .gitmodules --get "$key")
    [ -z "$(ls -A -- "$path" 2>/dev/null)" ] || continue
    name=\${key#submodule.}
    name=\${name%.path}
    copy=$CODELANES_GIT_COMMON_DIR/modules/$name
    remote=$(git config --get "submodule.$name.url") && [ -d "$copy" ] || continue
    CODELANES_COPY=$copy git -c protocol.file.allow=always "--config-env=submodule.$name.url=CODELANES_COPY" \\
      submodule --quiet update -- "$path" </dev/null || continue
    git -C "$path" remote set-url origin "$remote"
    echo "codelanes: The submodule \\"$path\\" was taken from the checkout."
  done
fi`;
