import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatIn } from '../e2e/chat-page.ts'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { createEmptyProject, type EmptyProject } from './empty-project.ts'

const layout = `import 'holdfast/widgets.css'
import type { ReactNode } from 'react'

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body style={{ margin: 0, height: '100dvh' }}>{children}</body>
    </html>
  )
}
`

const page = `'use client'
import { HoldfastProvider } from 'holdfast/react'
import { Thread } from 'holdfast/widgets'

const headers = () => ({ 'x-demo-user': 'ada' })

export default function Page() {
  return (
    <HoldfastProvider headers={headers}>
      <Thread threadId="the-first-thread-of-all" isNew />
    </HoldfastProvider>
  )
}
`

const tsconfig = {
  compilerOptions: {
    target: 'es2022',
    lib: ['dom', 'dom.iterable', 'esnext'],
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    isolatedModules: true,
    resolveJsonModule: true,
    esModuleInterop: true,
    plugins: [{ name: 'next' }],
  },
  include: [
    'next-env.d.ts',
    '**/*.ts',
    '**/*.tsx',
    '.next/types/**/*.ts',
    '.next/dev/types/**/*.ts',
  ],
  exclude: ['node_modules'],
}

let project: EmptyProject
let browser: Browser | undefined

beforeAll(async () => {
  project = createEmptyProject()
  project.write('package.json', '{ "private": true }\n')
  project.install(
    ...['next', 'react', 'react-dom', 'ai', 'zod', 'marked', '@tanstack/react-virtual'],
    ...['@types/node', '@types/react', '@types/react-dom', 'typescript@5.9.3'],
  )
  const example = join(import.meta.dirname, '../../examples/next-route/app')
  cpSync(example, join(project.folder, 'app'), { recursive: true })
  project.write('app/layout.tsx', layout)
  project.write('app/page.tsx', page)
  project.write('tsconfig.json', JSON.stringify(tsconfig))
  const built = project.run('next', ['build'])
  if (built.status !== 0) throw new Error(built.output)
  if (hasBrowser) browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  project.remove()
})

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('Next', () => {
  it('[CF4] builds with the kit in it, and answers a question in the browser', async () => {
    const next = join(project.folder, 'node_modules/next/dist/bin/next')
    const url = await project.start([next, 'start', '-p', '0'], /(http:\/\/localhost:\d+)[^]*Ready/)
    const tab = await chatIn(await browser!.newPage(), url)
    await tab.sendMessage('What is the weather in Paris?')
    await tab.ended()
    await tab.widget.getByText('Used 1 tool').waitFor()
    expect(await tab.answers.first().textContent()).toContain('Paris')
    expect(await tab.faults()).toEqual([])
  })
})
