import type { Terminal } from './terminal.ts'

export interface CommandContext {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly terminal: Terminal
  readonly streams: StandardStreams
}

/** The streams of a command: those of its process, or a test's own. */
export type StandardStreams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>

/** Exit codes: 0 done, 1 done with problems, 2 could not be done. */
export type ExitCode = 0 | 1 | 2

export interface Command {
  readonly help: string
  readonly run: (context: CommandContext) => Promise<ExitCode>
}
