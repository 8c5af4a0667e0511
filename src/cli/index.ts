import '../assert-node.ts'
export type { HoldfastConfig } from './config.ts'
export { runCli } from './main.ts'
