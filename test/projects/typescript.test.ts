import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCodeBlocks, toPrograms } from '../docs/code-block.ts'
import { readFiles } from '../support/read-files.ts'
import { createEmptyProject, type EmptyProject } from './empty-project.ts'
import { findDefinition } from './find-definition.ts'

/** The oldest and the newest that are promised, and lines between. */
const compilers = ['5.4.5', '5.6.3', '5.9.3', '6.0.3', '7.0.2']
const aliasOf = (version: string): string => `typescript-${version}`

const resolutions = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}

/** Every entry; and what must not compile. */
const program = `
import { createHoldfast, type Holdfast, memory } from 'holdfast'
import { runCli } from 'holdfast/cli'
import { createApi } from 'holdfast/client'
import { demoModel } from 'holdfast/demo'
import { postgres } from 'holdfast/postgres'
import { useThread } from 'holdfast/react'
import { createHandler } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import type { Store } from 'holdfast/store'
import { storeRules } from 'holdfast/testing'
import { Thread } from 'holdfast/widgets'
import 'holdfast/widgets.css'

const store: Store = memory()
export const holdfast: Holdfast = createHoldfast({ store, model: demoModel() })
export const used = [runCli, createApi, postgres, useThread, createHandler, sqlite, storeRules, Thread]
// @ts-expect-error -- an option that is misspelt
createHoldfast({ store, instruction: 'Be brief.' })
// @ts-expect-error -- an option whose value is of another kind
createHandler(holdfast, { allowedOrigins: 'https://example.com' })
// @ts-expect-error -- an entry that does not exist
export * as none from 'holdfast/none'
`

/** What the pages mean by "your engine". */
const chat = `
import { createHoldfast, memory } from 'holdfast'
import { demoModel } from 'holdfast/demo'
export const holdfast = createHoldfast({ store: memory(), model: demoModel() })
`

let project: EmptyProject
beforeAll(() => {
  project = createEmptyProject()
  project.write('package.json', '{ "private": true, "type": "module" }\n')
  project.install(
    ...['ai', 'zod', 'react', 'react-dom', 'pg', 'marked', '@tanstack/react-virtual'],
    ...['@types/node', '@types/react', '@types/react-dom', '@types/pg', '@opentelemetry/api'],
    ...compilers.map((version) => `${aliasOf(version)}@npm:typescript@${version}`),
  )
  project.write('program.ts', program)
  project.write(
    'editor.ts',
    "import { createHoldfast } from 'holdfast'\nexport const made = createHoldfast\n",
  )
  project.write(
    'tsconfig.json',
    '{ "compilerOptions": { "module": "nodenext" }, "files": ["editor.ts"] }\n',
  )
  project.write('chat.ts', chat)
  const readme = readFiles('README.md').get('README.md') ?? ''
  const snippets = toPrograms(readCodeBlocks('README.md', readme))
  for (const { file, text } of snippets) project.write(file, text)
  for (const [name, options] of Object.entries(resolutions)) {
    project.write(
      `tsconfig.${name}.json`,
      JSON.stringify({
        compilerOptions: {
          ...options,
          target: 'es2022',
          lib: ['es2023', 'dom', 'dom.iterable'],
          jsx: 'react-jsx',
          types: ['node'],
          strict: true,
          noEmit: true,
          allowImportingTsExtensions: true,
          // Theirs, not ours: what the AI SDK and Node's types need is the newest compiler.
          skipLibCheck: true,
        },
        files: ['program.ts', ...snippets.map(({ file }) => file)],
      }),
    )
  }
})
afterAll(() => project.remove())

describe.each(compilers)('TypeScript %s', (version) => {
  const compile = (...args: readonly string[]) =>
    project.run('node', [`node_modules/${aliasOf(version)}/bin/tsc`, ...args])

  it.each(Object.keys(resolutions))(
    '[CF3] [CF4] [CF6] compiles every entry and the README: %s',
    (name) => {
      expect(compile('--version').output).toContain(version)
      expect(compile('-p', `tsconfig.${name}.json`)).toEqual({ status: 0, output: '' })
    },
  )

  it('[CF4] finds nothing in the declarations of the package', () => {
    const { output } = compile('-p', 'tsconfig.nodenext.json', '--skipLibCheck', 'false')
    const ours = output.split('\n').filter((line) => line.includes('node_modules/holdfast/'))
    expect(ours).toEqual([])
  })
})

it('[CF4] an editor goes from a name to its source', async () => {
  const found = await findDefinition(
    project.folder,
    aliasOf('5.9.3'),
    'editor.ts',
    'createHoldfast',
  )
  expect(found?.replaceAll('\\', '/')).toMatch(
    /node_modules\/holdfast\/src\/engine\/create-holdfast\.ts$/,
  )
})
