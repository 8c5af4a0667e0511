import { basename, join } from 'node:path'
import { typeStripping } from './type-stripping.ts'

const project = join(import.meta.dirname, '../..')

/** What tests start as processes of their own, again and again. */
export const programs = [
  'app/holdfast.config.ts',
  'scripts/start.ts',
  'test/crash/agent-process.ts',
  'test/crash/conversation-process.ts',
  'test/crash/fault-injecting-process.ts',
  'test/crash/title-process.ts',
  'test/crash/versions-process.ts',
  'test/e2e/odd-tools.config.ts',
  'test/support/demo-server.ts',
  'test/support/short-lived-server.ts',
  'test/torture/torture-server.ts',
] as const

export type Program = (typeof programs)[number]

/** Names the folder of the built programs for the workers, which inherit it. */
export const programsVariable = 'HOLDFAST_TEST_PROGRAMS'

/** Where a program is: the built one, or its source where nothing was built. */
export function programFile(program: Program): string {
  const folder = process.env[programsVariable]
  return folder === undefined
    ? join(project, program)
    : join(folder, `${basename(program, '.ts')}.mjs`)
}

/** What Node is given to run a program. */
export function programArguments(program: Program): readonly string[] {
  if (process.env[programsVariable] === undefined) return sourceArguments(program)
  const quiet = typeStripping.filter((flag) => flag.startsWith('--disable-warning'))
  return [...quiet, programFile(program)]
}

/** The same for its source, as users start it. */
export const sourceArguments = (program: Program): readonly string[] => [
  ...typeStripping,
  '--conditions=holdfast-source',
  join(project, program),
]
