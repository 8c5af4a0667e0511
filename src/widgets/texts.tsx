import { createContext, useContext } from 'react'

/** Every word that the widgets say. A host replaces what it likes, for another language or another voice. */
export interface Texts {
  readonly thinking: string
  readonly working: (tool: string) => string
  readonly used: (count: number) => string
  readonly failedOf: (failed: number, total: number) => string
  readonly stopped: string
  readonly waiting: string
  readonly unknown: string
  readonly arguments: string
  readonly result: string
  readonly error: string
  readonly copyJson: string
  readonly copied: string
  readonly timeline: string
  readonly state: Readonly<Record<string, string>>
  readonly approvalTitle: (tool: string) => string
  readonly accept: string
  readonly reject: string
  readonly feedback: string
  readonly decidedBy: (who: string, decision: 'accepted' | 'rejected') => string
  readonly unknownTitle: (tool: string) => string
  readonly unknownBody: string
  readonly retry: string
  readonly done: string
  readonly skip: string
  readonly loadResult: (size: string) => string
  readonly cardFailed: string
  readonly message: string
  readonly send: string
  readonly stop: string
  readonly continue: string
  readonly regenerate: string
  readonly edit: string
  readonly save: string
  readonly cancel: string
  readonly copy: string
  readonly latest: string
  readonly loadingOlder: string
  readonly sendFailed: string
  readonly tryAgain: string
  readonly discard: string
  readonly draft: string
  readonly connection: Readonly<Record<string, string>>
}

export const englishTexts: Texts = {
  thinking: 'Thinking…',
  working: (tool) => `${tool}…`,
  used: (count) => (count === 1 ? 'Used 1 tool' : `Used ${count} tools`),
  failedOf: (failed, total) => `${failed} of ${total} failed`,
  stopped: 'Stopped',
  waiting: 'Waiting for you',
  unknown: 'Outcome unknown',
  arguments: 'Arguments',
  result: 'Result',
  error: 'Error',
  copyJson: 'Copy JSON',
  copied: 'Copied',
  timeline: 'Timeline',
  state: {
    streaming: 'preparing',
    'awaiting-approval': 'waits for you',
    ready: 'queued',
    running: 'running',
    succeeded: 'done',
    failed: 'failed',
    denied: 'declined',
    stopped: 'stopped',
    interrupted: 'interrupted',
    unknown: 'outcome unknown',
  },
  approvalTitle: (tool) => `Allow ${tool}?`,
  accept: 'Accept',
  reject: 'Reject',
  feedback: 'Reason (optional, the assistant is told)',
  decidedBy: (who, decision) => `${decision === 'accepted' ? 'Accepted' : 'Rejected'} by ${who}`,
  unknownTitle: (tool) => `Nobody knows how ${tool} ended`,
  unknownBody:
    'The server went down while this ran. It may or may not have taken effect. Everything else is saved.',
  retry: 'Run it again',
  done: 'It worked',
  skip: 'Skip it',
  loadResult: (size) => `Show the result (${size})`,
  cardFailed: 'This card could not be drawn. The data is below.',
  message: 'Message Holdfast…',
  send: 'Send',
  stop: 'Stop',
  continue: 'Continue',
  regenerate: 'Regenerate',
  edit: 'Edit',
  save: 'Save and send',
  cancel: 'Cancel',
  copy: 'Copy',
  latest: 'Latest',
  loadingOlder: 'Loading earlier messages…',
  sendFailed: 'Not sent.',
  tryAgain: 'Try again',
  discard: 'Discard',
  draft: 'An attempt that was broken off',
  connection: {
    'backing-off': 'Reconnecting…',
    offline: 'You are offline. What you see is saved.',
    refused: 'This conversation is not available.',
  },
}

const TextsContext = createContext<Texts>(englishTexts)
export const TextsProvider = TextsContext.Provider
export const useTexts = (): Texts => useContext(TextsContext)
