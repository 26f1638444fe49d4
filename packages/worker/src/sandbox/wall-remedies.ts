/** Kernel settings that decide whether bubblewrap can work, as text; undefined where this kernel has none. */
export interface KernelSettings {
  readonly apparmorRestrictsUserNamespaces?: string | undefined;
  readonly unprivilegedUserNamespaces?: string | undefined;
  readonly maxUserNamespaces?: string | undefined;
}

/** What the operator can do about a machine whose sandbox does not start. */
export function remedyFor(reason: string, kernel: KernelSettings): string {
  if (reason.includes('ENOENT'))
    return 'Install bubblewrap (on Debian and Ubuntu: apt-get install bubblewrap).';
  if (reason.includes('EACCES'))
    return 'Let the user of the worker run that program, or install bubblewrap anew (on Debian and Ubuntu: apt-get install --reinstall bubblewrap).';
  if (/unknown option/iu.test(reason))
    return 'Install bubblewrap 0.8 or newer, with --bind-fd and --disable-userns.';
  if (kernel.maxUserNamespaces?.trim() === '0') {
    return 'Allow user namespaces: sysctl user.max_user_namespaces=15000.';
  }
  if (kernel.unprivilegedUserNamespaces?.trim() === '0') {
    return 'Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1.';
  }
  if (kernel.apparmorRestrictsUserNamespaces?.trim() === '1') {
    return (
      'AppArmor keeps bubblewrap from making user namespaces: give /usr/bin/bwrap a profile that allows "userns", ' +
      'or set sysctl kernel.apparmor_restrict_unprivileged_userns=0.'
    );
  }
  return (
    'Let the worker make user namespaces: in a container this needs a seccomp profile that allows unshare and mount, ' +
    'or run the worker outside it.'
  );
}
