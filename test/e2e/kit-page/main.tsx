// A page that uses nothing but the kit, in strict mode. Its address says what is to be shown:
// /THREAD?new, with throws=TOOL for a card that cannot be drawn, picky=TOOL for one that cannot before its text has a heading, dir=rtl,
// and hooks to show what they give.

import 'holdfast/widgets.css'
import './page.css'
import { HoldfastProvider } from 'holdfast/react'
import { type CardProps, CardProvider, type CardRegistry, Thread } from 'holdfast/widgets'
import { type ReactNode, StrictMode, useState, version } from 'react'
import { createRoot } from 'react-dom/client'
import { Hooks } from './hooks.tsx'

const threadId = location.pathname.slice(1)
const query = new URLSearchParams(location.search)
document.documentElement.dir = query.get('dir') ?? 'ltr'
document.documentElement.dataset['react'] = version

function CityCard({ output }: CardProps): ReactNode {
  return <p className="city-card">{(output as { readonly city: string }).city}</p>
}

function BrokenCard(): ReactNode {
  throw new Error('The card of the test is broken.')
}

let made = 0

function PickyCard({ input }: CardProps): ReactNode {
  const [number] = useState(() => ++made)
  const { text } = input as { readonly text?: string }
  if (text?.includes('## ') !== true) throw new Error('The text has not come yet.')
  return (
    <p className="picky-card" data-made={number}>
      {text}
    </p>
  )
}

const broken = query.get('throws')
const picky = query.get('picky')
const cards: CardRegistry = {
  get_weather: { component: CityCard },
  ...(broken === null ? {} : { [broken]: { component: BrokenCard } }),
  ...(picky === null ? {} : { [picky]: { component: PickyCard, drawsInput: true } }),
}

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no #root.')
createRoot(root).render(
  <StrictMode>
    <HoldfastProvider>
      <CardProvider cards={cards}>
        {query.has('hooks') && <Hooks threadId={threadId} isNew={query.has('new')} />}
        <Thread threadId={threadId} isNew={query.has('new')} />
      </CardProvider>
    </HoldfastProvider>
  </StrictMode>,
)
