import { Icon, type IconName, useCurrentThread } from 'holdfast/widgets'
import type { ReactNode } from 'react'

interface Example {
  readonly text: string
  readonly shows: string
  readonly icon: IconName
}

const examples: readonly Example[] = [
  { text: 'What is the weather in Paris?', shows: 'A tool and its card', icon: 'check' },
  {
    text: 'What is the time in Tokyo and weather there?',
    shows: 'Two calls at once',
    icon: 'bars',
  },
  { text: 'Search my notes for coffee', shows: 'Several steps, with comments', icon: 'search' },
  { text: 'Write a note about green tea', shows: 'A card that grows', icon: 'pencil' },
  { text: 'Delete note Travel', shows: 'Asks you before it acts', icon: 'hand' },
  { text: 'Call 12 tools', shows: 'Many calls in parallel', icon: 'refresh' },
  { text: 'Fail tool, please', shows: 'One of three calls fails', icon: 'warning' },
  { text: 'Slow tool 20', shows: 'Progress; write on meanwhile', icon: 'clock' },
  { text: 'Stock ACME', shows: 'A chart', icon: 'chart' },
  { text: 'AFL code for a moving average', shows: 'Code to copy', icon: 'code' },
]

export function EmptyState(): ReactNode {
  const { client } = useCurrentThread()
  return (
    <div className="app-empty">
      <h2>What would you like to see?</h2>
      <p>
        This is a demo: the model and its tools work offline, and the data is made up. Reload in the
        middle of an answer, open a second tab, stop the server. Nothing gets lost.
      </p>
      <ul className="app-examples">
        {examples.map(({ text, shows, icon }) => (
          <li key={text}>
            <button
              type="button"
              // A failure stands in the thread, where it can be tried again.
              onClick={() => void client.send([{ type: 'text', text }]).catch(() => undefined)}
            >
              <Icon name={icon} />
              <span>
                <strong>{text}</strong>
                <small>{shows}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
