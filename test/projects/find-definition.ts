import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface Answer {
  readonly type: string
  readonly request_seq?: number
  readonly body?: readonly { readonly file: string }[]
}

/** Where an editor goes for "go to definition" of a word, at its last place in a file: asked of the server that editors ask. */
export async function findDefinition(
  folder: string,
  compiler: string,
  file: string,
  word: string,
): Promise<string | undefined> {
  const server = spawn(
    process.execPath,
    [
      join(folder, 'node_modules', compiler, 'lib/tsserver.js'),
      '--disableAutomaticTypingAcquisition',
    ],
    { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] },
  )
  try {
    const path = join(folder, file)
    const before = readFileSync(path, 'utf8').split(word).slice(0, -1).join(word)
    const place = {
      line: before.split('\n').length,
      offset: before.length - before.lastIndexOf('\n'),
    }
    const send = (seq: number, command: string, args: object) =>
      server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: args })}\n`)
    send(1, 'open', { file: path })
    send(2, 'definition', { file: path, ...place })
    for await (const line of createInterface(server.stdout)) {
      if (!line.startsWith('{')) continue
      const answer = JSON.parse(line) as Answer
      if (answer.type === 'response' && answer.request_seq === 2) return answer.body?.[0]?.file
    }
    return undefined
  } finally {
    server.kill('SIGKILL')
  }
}
