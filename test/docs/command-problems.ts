import packageJson from '../../package.json' with { type: 'json' }
import { readFiles } from '../support/read-files.ts'
import type { CodeBlock } from './code-block.ts'

const sources = readFiles('src/**/*.ts', 'app/**/*.ts', 'scripts/**/*.ts', 'test/support/*.ts')
const everything = [...sources.values()].join('\n')

/** The help of a command is what its options are compared with, as a reader would. */
const helpOf = (command: string): string | undefined =>
  /help: `([\s\S]*?)`,\n/.exec(sources.get(`src/cli/${command}.ts`) ?? '')?.[1]

const npmsOwn = new Set([
  'init',
  'install',
  'ci',
  'test',
  'start',
  'run',
  'pack',
  'publish',
  'version',
])

/** What a page tells people to type and is not there, each with its place. */
export function findCommandProblems(blocks: readonly CodeBlock[]): readonly string[] {
  return blocks
    .filter(({ language }) => ['', 'sh', 'bash', 'shell', 'console'].includes(language))
    .flatMap(({ page, line, code }) =>
      code
        .replaceAll('\\\n', ' ')
        .split('\n')
        .map((text) => text.replace(/^\$ /, '').replace(/(^|\s)#\s.*$/, ''))
        .filter((text) => /^(?:[A-Z_]+=\S+ +)*(?:npm|npx|holdfast)\b/.test(text))
        .flatMap((text) => text.split(/&&|\||>/))
        .flatMap((text) => findProblems(text.trim().split(/\s+/)))
        .map((problem) => `${page}:${line}: ${problem}`),
    )
}

function findProblems(typed: readonly string[]): readonly string[] {
  const from = typed.findIndex((word) => !/^[A-Z_]+=/.test(word))
  const words = from === -1 ? [] : typed.slice(from)
  const unread = typed
    .slice(0, from === -1 ? undefined : from)
    .flatMap((word) => word.split('=')[0] ?? [])
    .filter((name) => name.startsWith('HOLDFAST_') && !everything.includes(name))
    .map((name) => `nothing reads ${name}`)
  return [...unread, ...findWrongWords(words)]
}

function findWrongWords([program, ...words]: readonly string[]): readonly string[] {
  if (program === 'npx') return words[0] === 'holdfast' ? findWrongWords(words) : []
  if (program === 'npm') {
    const [verb = '', script = ''] = words
    if (!npmsOwn.has(verb)) return [`npm has no command "${verb}" that we use`]
    const isMissing = verb === 'run' && !Object.hasOwn(packageJson.scripts, script)
    return isMissing ? [`there is no script "${script}"`] : []
  }
  if (program !== 'holdfast') return []
  const [command = '', ...rest] = words
  if (command === 'COMMAND' || command.startsWith('--')) return []
  const help = helpOf(command)
  if (help === undefined) return [`there is no command "${command}"`]
  return rest
    .flatMap((word) => [...word.matchAll(/--[a-z][a-zA-Z-]*/g)].map(([option]) => option))
    .filter((option) => option !== '--help' && !new RegExp(`${option}(?![a-z-])`).test(help))
    .map((option) => `"${option}" is no option of ${command}`)
}
