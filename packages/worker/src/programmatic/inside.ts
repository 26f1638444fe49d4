const own = '/run/codelanes/script';

/** Where a sandbox finds what belongs to its script. */
export const scriptPaths = {
  /** Read-only, as all beneath it: the script, its functions, the pipe of requests, the results of tools. */
  own,
  main: `${own}/main.sh`,
  functions: `${own}/functions.sh`,
  requests: `${own}/requests`,
  /** A pipe on which it is told that an answer has come. */
  news: `${own}/news`,
  results: `${own}/results`,
  /** Where a tool call puts its arguments. */
  calls: '/run/codelanes/calls',
  /** Files in and out. */
  data: '/run/codelanes/data',
  /** What scripts without a workspace call the same folder. */
  dataElsewhere: '/mnt/data',
} as const;
