import type { ReactNode } from 'react'
import { commandKey } from '../keys.ts'

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['Enter'], 'Send; while an answer is written, send it next'],
  [[commandKey, 'Enter'], 'While an answer is written: send into it'],
  [['Shift', 'Enter'], 'A new line'],
  [[commandKey, 'K'], 'New chat'],
  [['/'], 'Search, unless you are writing'],
  [['Esc'], 'Close what is open, leave an edit'],
]

/** What can be done with keys alone. */
export function KeyList(): ReactNode {
  return (
    <section className="app-keys" aria-labelledby="keys-title">
      <h3 id="keys-title">Keyboard</h3>
      <dl>
        {keys.map(([pressed, does]) => (
          <div key={does}>
            <dt>
              {pressed.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
