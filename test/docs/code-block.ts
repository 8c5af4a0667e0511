/** A fenced block of a page, with what the comments right above it say to the test and not to the reader. */
export interface CodeBlock {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly code: string
  /** `<!-- given: declare const model: … -->`: what the text around the block says that one has. */
  readonly given: readonly string[]
  /** `<!-- continues -->`: goes on from the block before it, in the same file. */
  readonly continues: boolean
  /** `<!-- runs -->`: is not only compiled. */
  readonly runs: boolean
}

const comment = /^<!--\s*(given|continues|runs)(?::\s*([\s\S]*?))?\s*-->$/

export function readCodeBlocks(page: string, markdown: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = []
  const lines = markdown.split('\n')
  let above: (readonly [word: string, text: string])[] = []
  for (let index = 0; index < lines.length; index++) {
    let line = lines[index] as string
    if (line.startsWith('<!--')) {
      while (!line.includes('-->') && index + 1 < lines.length) line += `\n${lines[++index]}`
      const [, word, text = ''] = comment.exec(line.trim()) ?? []
      if (word !== undefined) above.push([word, text])
      continue
    }
    const [, indent = '', fence, language = ''] = /^( *)(```+)(\w*)/.exec(line) ?? []
    if (fence !== undefined) {
      const start = index + 1
      while (++index < lines.length && (lines[index] as string).trim() !== fence);
      blocks.push({
        page,
        line: start,
        language,
        code: lines
          .slice(start, index)
          .map((text) => (text.startsWith(indent) ? text.slice(indent.length) : text))
          .join('\n'),
        given: above.filter(([word]) => word === 'given').map(([, text]) => text),
        continues: above.some(([word]) => word === 'continues'),
        runs: above.some(([word]) => word === 'runs'),
      })
    }
    if (line.trim() !== '') above = []
  }
  return blocks
}

export interface Program {
  /** `README-29.ts`: the page and the line of its first block. */
  readonly file: string
  readonly text: string
  readonly runs: boolean
}

/** Blocks in TypeScript as files that a compiler takes; one that continues is part of the one before it. */
export function toPrograms(blocks: readonly CodeBlock[]): readonly Program[] {
  const groups: CodeBlock[][] = []
  for (const block of blocks) {
    if (!/^tsx?$/.test(block.language)) continue
    const last = groups.at(-1)
    if (block.continues && last?.[0]?.page === block.page) last.push(block)
    else groups.push([block])
  }
  return groups.map((group) => {
    const [{ page, line }] = group as [CodeBlock]
    const isJsx = group.some(({ language }) => language === 'tsx')
    const name = page.replace(/\.md$/, '').replaceAll('/', '-')
    return {
      file: `${name}-${line}.${isJsx ? 'tsx' : 'ts'}`,
      text: [
        ...group.flatMap(({ given }) => given),
        ...group.map(({ code }) => code),
        // A block without an import is a module all the same.
        'export {}\n',
      ].join('\n'),
      runs: group.some(({ runs }) => runs),
    }
  })
}
