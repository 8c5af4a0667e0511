import type { OutlineGroup } from '../site/outline.ts'
import { readTitle } from './doc-links.ts'

const introduction = `# Holdfast

> A chat backend and UI kit for AI agents that use tools (TypeScript, AI SDK 7), in which the database is the only truth: nothing is shown
> before it is stored, so a tool call does not vanish, hang or run twice when the page is reloaded or the server dies.

- Install: \`npm install holdfast ai zod\`. Node 22.13 or newer, ES modules. \`pg\` for PostgreSQL, React for the widgets.
- Entry points: \`holdfast\`, \`holdfast/sqlite\`, \`holdfast/postgres\`, \`holdfast/server\`, \`holdfast/client\`, \`holdfast/react\`, \`holdfast/widgets\`, \`holdfast/testing\`, \`holdfast/demo\`.
- Every TypeScript block in these pages is compiled against the package by its tests. Options that do not exist are refused by name.
- Without \`authenticate\`, the handler answers this machine alone. Thread ids that a client makes up have at least 16 characters once there is \`authenticate\`.
- Tools are plain AI SDK \`tool()\`. What may be run twice is said in \`policies: { name: { repeatable: true } }\`, what a person must accept in \`{ approval: 'always' }\`.
`

/** `docs/llms.txt`: the index of the docs for machines, beside them in the package. */
export function toLlmsIndex(
  outline: readonly OutlineGroup[],
  docs: ReadonlyMap<string, string>,
): string {
  const groups = outline.map(({ title, pages }) => {
    const rows = pages.map(
      ({ path, about }) => `- [${readTitle(docs.get(`docs/${path}`) ?? '')}](${path}): ${about}`,
    )
    return `## ${title}\n\n${rows.join('\n')}\n`
  })
  return [introduction, ...groups].join('\n')
}
