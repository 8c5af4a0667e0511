import { basename, join } from 'node:path'
import { typeStripping } from './type-stripping.ts'

const project = join(import.meta.dirname, '../..')

/** What tests start as processes of their own, again and again. */
export const programs = [
  'test/crash/agent-process.ts',
  'test/crash/conversation-process.ts',
  'test/crash/fault-injecting-process.ts',
  'test/crash/title-process.ts',
  'test/crash/versions-process.ts',
  'test/support/demo-server.ts',
  'test/support/short-lived-server.ts',
  'test/torture/torture-server.ts',
] as const

export type Program = (typeof programs)[number]

/** Names the folder of the built programs for the workers, which inherit it. */
export const programsVariable = 'HOLDFAST_TEST_PROGRAMS'

/** What Node is given to run a program: the built one, or its source where nothing was built. */
export function programArguments(program: Program): readonly string[] {
  const folder = process.env[programsVariable]
  if (folder === undefined) {
    return [...typeStripping, '--conditions=holdfast-source', join(project, program)]
  }
  const quiet = typeStripping.filter((flag) => flag.startsWith('--disable-warning'))
  return [...quiet, join(folder, `${basename(program, '.ts')}.mjs`)]
}
