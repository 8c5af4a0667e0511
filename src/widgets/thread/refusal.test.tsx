import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Refusal } from './refusal.tsx'

it.each([
  ['thread-not-found', 'This conversation does not exist, or it is not yours.'],
  ['not-authenticated', 'Sign in to see this conversation.'],
  ['forbidden', 'You may not see this conversation from here.'],
  ['foreign-origin', 'You may not see this conversation from here.'],
  ['no-authentication', 'You may not see this conversation from here.'],
  ['not-found', 'This conversation cannot be shown.'],
  ['http-error', 'This conversation cannot be shown.'],
])('[HT2] who is refused as %s reads what it means to them', (code, words) => {
  expect(renderToStaticMarkup(<Refusal code={code} />)).toContain(`>${words}<`)
})
