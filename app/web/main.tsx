import 'holdfast/widgets.css'
import './app.css'
import { HoldfastProvider } from 'holdfast/react'
import { CardProvider } from 'holdfast/widgets'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { cards } from './cards/cards.ts'
import { followKeyboard } from './follow-keyboard.ts'
import { shareInAddress } from './place.ts'
import { SharedPage } from './share/shared-page.tsx'
import { TokenGate } from './token-gate.tsx'
import { tokenHeaders } from './token.ts'
import { applyTheme, readTheme } from './theme.ts'

applyTheme(readTheme())
followKeyboard()
const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no #root.')
const shareId = shareInAddress()
createRoot(root).render(
  <StrictMode>
    {shareId === undefined ? (
      <TokenGate>
        <HoldfastProvider headers={tokenHeaders}>
          <CardProvider cards={cards}>
            <App />
          </CardProvider>
        </HoldfastProvider>
      </TokenGate>
    ) : (
      // Whoever reads a link says to nobody who they are.
      <HoldfastProvider>
        <CardProvider cards={cards}>
          <SharedPage shareId={shareId} />
        </CardProvider>
      </HoldfastProvider>
    )}
  </StrictMode>,
)
