import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFiles } from '../support/read-files.ts'
import { createUserProject, type UserProject } from '../support/user-project.ts'
import { type CodeBlock, readCodeBlocks, toPrograms } from './code-block.ts'
import { findCommandProblems } from './command-problems.ts'

const pages = readFiles('README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'examples/**/*.md')
const blocks = [...pages].flatMap(([page, text]) => readCodeBlocks(page, text))
// CONTRIBUTING speaks to those who have the sources.
const programs = toPrograms(blocks.filter(({ page }) => page !== 'CONTRIBUTING.md'))

const resolutions = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}

/** Loads a program; where it has a handler to show, the handler has to answer. Servers are not waited for. */
const runner = `
const { default: shown } = await import(process.argv[2])
if (typeof shown?.fetch === 'function') {
  const { status } = await shown.fetch(new Request('http://127.0.0.1:8787/api/health'))
  if (status !== 200) throw new Error('It answers ' + status + '.')
}
process.exit(0)
`

/** What a page means by "your engine". */
const chat = `
import { createHoldfast, memory } from 'holdfast'
import { demoModel } from 'holdfast/demo'
export const holdfast = createHoldfast({ store: memory(), model: demoModel() })
`

/** The one package that a page imports and that is not installed here: as much of it as the page uses. */
const express = `
declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http'
  type Middleware = (incoming: IncomingMessage, outgoing: ServerResponse, next: () => void) => void
  function express(): {
    use(path: string | Middleware, middleware?: Middleware): void
    listen(port: number): void
  }
  namespace express {
    type Request = IncomingMessage
    type Response = ServerResponse
    function json(): Middleware
  }
  export default express
}
`

let project: UserProject

beforeAll(() => {
  project = createUserProject()
  for (const { file, text } of programs) project.write(file, text)
  for (const [name, options] of Object.entries(resolutions)) {
    project.write(
      `tsconfig.${name}.json`,
      JSON.stringify({
        compilerOptions: {
          ...options,
          target: 'esnext',
          lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
          jsx: 'react-jsx',
          types: ['node'],
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          verbatimModuleSyntax: true,
          allowImportingTsExtensions: true,
        },
        files: ['express.d.ts', ...programs.map(({ file }) => file)],
      }),
    )
  }
  project.write('run.mjs', runner)
  project.write('chat.ts', chat)
  // The guide shows the example as it is, and the example has a model of its own.
  for (const [, text] of readFiles('examples/own-loop/demo-model.ts')) {
    project.write('demo-model.ts', text)
  }
  project.write('express.d.ts', express)
}, 120_000)
afterAll(() => project.remove())

describe('the code in README and docs', () => {
  it('[CF3] is there', () => {
    expect(programs.length).toBeGreaterThan(5)
    expect(programs.some(({ runs }) => runs)).toBe(true)
  })

  it.each(Object.keys(resolutions))(
    '[CF3] compiles against the published package: %s',
    (name) => {
      const { output } = project.run('tsc', ['-p', `tsconfig.${name}.json`])
      expect(output).toBe('')
    },
    120_000,
  )

  it.each(programs.filter(({ runs }) => runs))('[CF3] runs: $file', ({ file }) => {
    const { status, output } = project.run('node', ['run.mjs', `./${file}`], { PORT: '0' })
    expect({ status, output }).toMatchObject({ status: 0 })
  })

  it('[CF3] has only commands, options and scripts that exist', () => {
    expect(findCommandProblems(blocks)).toEqual([])
  })
})

describe('what reads it', () => {
  const block = (markdown: string): CodeBlock | undefined => readCodeBlocks('a.md', markdown)[0]

  it('[CF3] takes the comments right above a block, and the block', () => {
    const markdown =
      '<!-- given: declare const a: number -->\n<!-- runs -->\n\n```ts\nlet b = a\n```\n'
    expect(block(markdown)).toEqual({
      page: 'a.md',
      line: 4,
      language: 'ts',
      code: 'let b = a',
      given: ['declare const a: number'],
      continues: false,
      runs: true,
    })
    expect(block('<!-- runs -->\nText.\n```ts\n```')?.runs).toBe(false)
  })

  it.each([
    ['npm run nothing', 'there is no script "nothing"'],
    ['holdfast sevre', 'there is no command "sevre"'],
    ['npx holdfast check --mend', '"--mend" is no option of check'],
    ['HOLDFAST_MODLE=demo npm start', 'nothing reads HOLDFAST_MODLE'],
  ])('[CF3] finds what is wrong with %s', (line, problem) => {
    const [found] = findCommandProblems(readCodeBlocks('a.md', `\`\`\`sh\n${line}\n\`\`\`\n`))
    expect(found).toContain(problem)
  })
})
