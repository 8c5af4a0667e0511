import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { StandardStreams } from '../../src/cli/command.ts'
import { runWith } from '../../src/cli/main.ts'
import type { Outcome } from './run-holdfast.ts'

/**
 * A command as the executable runs it, without a process of its own, which takes longer than most commands do. What a
 * process is, its folder, its account, its signals and its exit, is tested with `runHoldfast`.
 */
export async function runInProcess(args: readonly string[], input = ''): Promise<Outcome> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end(input)
  const said = Promise.all([text(stdout), text(stderr)])
  const streams = { stdin, stdout, stderr } as unknown as StandardStreams
  const code = await runWith(streams, args, { ...process.env, HOLDFAST_DB: undefined })
  stdout.end()
  stderr.end()
  const [out, err] = await said
  return { code, out, err }
}
