/** As much of the chat view as is written down. */
export interface ChatExport {
  readonly role: string
  readonly content: string
  readonly toolCalls?: readonly {
    readonly name: string
    readonly args?: unknown
    readonly result?: unknown
    readonly error?: string
    readonly commentary?: string
  }[]
}

/** A thread as a document: what was said, and in between which tools were used and what came of it. */
export function toMarkdown(title: string, messages: readonly ChatExport[]): string {
  const parts = messages.flatMap(({ role, content, toolCalls = [] }) => [
    `## ${role === 'user' ? 'You' : 'Assistant'}`,
    ...toolCalls.flatMap(({ name, args, result, error, commentary }) => [
      ...(commentary === undefined ? [] : [commentary]),
      `**${name}**`,
      fenced(args),
      error === undefined ? fenced(result) : `> ${error.replaceAll('\n', '\n> ')}`,
    ]),
    ...(content === '' ? [] : [content]),
  ])
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`
}

/** Longer than any fence inside, so that a result cannot break out of its block. */
function fenced(value: unknown): string {
  const text = JSON.stringify(value ?? null, null, 2)
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${text}\n${fence}`
}
