import { type CardEntry, type CardProps, CodeBlock } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { objectOf, textOf } from './fields.ts'
import { highlightAfl } from './highlight-afl.ts'
import { Source } from './source.tsx'

function AflCard({ output }: CardProps): ReactNode {
  const data = objectOf(output)
  const code = textOf(data, 'code', 'afl', 'afl_code', 'aflCode', 'formula', 'source_code') ?? ''
  const subject = textOf(data, 'subject', 'title', 'name')
  return (
    <div className="card-afl">
      {subject !== undefined && (
        <h3>
          <bdi>{subject}</bdi>
        </h3>
      )}
      <CodeBlock code={code} language="AFL">
        {highlightAfl(code).map(({ kind, text }, index) =>
          kind === 'plain' ? (
            text
          ) : (
            <span key={index} className={`afl-${kind}`}>
              {text}
            </span>
          ),
        )}
      </CodeBlock>
      <Source data={data} />
    </div>
  )
}

export const aflCard: CardEntry = {
  component: AflCard,
  names: ['generate_afl_code', 'generateAflCode', 'generate_afl', 'afl_code'],
  version: '1',
  upcasters: {
    // Before there were versions the code was the whole payload, often in a Markdown fence.
    '0': (output) => {
      if (typeof output !== 'string') return { ...objectOf(output), version: '1' }
      const code = output.replace(/^```\w*\n/, '').replace(/\n?```\s*$/, '')
      return { version: '1', code }
    },
  },
}
