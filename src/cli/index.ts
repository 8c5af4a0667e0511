import '../assert-node.ts'
export type { HoldfastConfig } from './config.ts'
export { runCli } from './main.ts'
export { modelFromEnvironment } from './model-from-environment.ts'
// What the signatures above are made of: whoever names a part of one needs its type.
export type { ExitCode } from './command.ts'
