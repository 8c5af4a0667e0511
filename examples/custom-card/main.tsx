import 'holdfast/widgets.css'
import { createApi } from 'holdfast/client'
import { HoldfastProvider } from 'holdfast/react'
import { CardProvider, type CardRegistry, Thread } from 'holdfast/widgets'
import { createRoot } from 'react-dom/client'
import { noteCard } from './note-card.tsx'
import { weatherCard } from './weather-card.tsx'

const cards: CardRegistry = { get_weather: weatherCard, write_note: noteCard }
const threadId = 'custom-card'
// Makes the thread, or finds the one that is there.
await createApi().post('/api/threads', { id: threadId, title: 'A card of your own' })

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no #root.')
createRoot(root).render(
  <HoldfastProvider>
    <CardProvider cards={cards}>
      <Thread threadId={threadId} />
    </CardProvider>
  </HoldfastProvider>,
)
