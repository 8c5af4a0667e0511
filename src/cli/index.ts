import '../assert-node.ts'
export type { HoldfastConfig } from './config.ts'
export { runCli } from './main.ts'
export { modelFromEnvironment } from './model-from-environment.ts'
// Types that occur in the signatures above.
export type { ExitCode } from './command.ts'
