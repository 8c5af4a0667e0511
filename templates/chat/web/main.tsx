import 'holdfast/widgets.css'
import './page.css'
import { createApi } from 'holdfast/client'
import { HoldfastProvider } from 'holdfast/react'
import { Thread } from 'holdfast/widgets'
import { createRoot } from 'react-dom/client'

// The address names the thread, so that a reload and a second tab show the same one. Without a name, a new one begins.
const threadId = location.hash.slice(1) || crypto.randomUUID()
history.replaceState(null, '', `#${threadId}`)
addEventListener('hashchange', () => location.reload())
// Makes the thread, or finds the one that is there. If nobody answers, <Thread> says so, and tries again.
await createApi()
  .post('/api/threads', { id: threadId })
  .catch((error: unknown) => console.error(error))

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no #root.')
createRoot(root).render(
  <HoldfastProvider>
    <header>
      <h1>Chat</h1>
      <a href="/">New chat</a>
    </header>
    <main>
      <Thread
        threadId={threadId}
        empty={<p>Ask something, such as: What is the weather in Paris?</p>}
        takesFocus
      />
    </main>
  </HoldfastProvider>,
)
