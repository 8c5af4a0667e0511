import { endingNoteOf } from '../views/ending-note.ts'
import { savingNoteOf } from '../views/saving-note.ts'
import { errorTextOf } from '../views/call-error-text.ts'
import type { Strings } from './strings.ts'

const formatBytes = (bytes: number): string => {
  if (bytes < 1_000) return `${bytes} B`
  const [unit, size] = bytes < 1_000_000 ? ['kB', bytes / 1_000] : ['MB', bytes / 1_000_000]
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`
}

const formatCount = (count: number): string =>
  Number.isInteger(count) ? String(count) : count.toFixed(1)

function formatSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const callStates: Strings['state'] = {
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
}

const everythingIsSaved = 'Everything above is saved.'

/** The strings of the widgets without a `<StringsProvider>`. */
export const englishStrings: Strings = {
  thinking: 'Thinking…',
  working: (tool) => `${tool}…`,
  progress(done, total) {
    if (total === 1 || total === 100) return `${Math.floor((done / total) * 100)} %`
    return total === undefined ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`
  },
  runningFor: formatSeconds,
  used: (count) => (count === 1 ? 'Used 1 tool' : `Used ${count} tools`),
  failedOf: (failed, total) => (total === 1 ? 'Failed' : `${failed} of ${total} failed`),
  stopped: 'Stopped',
  declined: 'Declined',
  waiting: 'Waiting for you',
  unknown: 'Outcome unknown',
  arguments: 'Arguments',
  result: 'Result',
  copyJson: 'Copy JSON',
  copied: 'Copied',
  copy: 'Copy',
  timeline: 'Timeline',
  step: (number) => `Step ${number}`,
  reasoning: 'Reasoning',
  sources: 'Sources',
  attach: 'Attach files',
  dropFiles: 'Drop files to attach them',
  attachments: 'Attached files',
  removeFile: (name) => `Remove ${name}`,
  retryFile: (name) => `Try ${name} again`,
  fileSize: (bytes) => formatBytes(bytes),
  file: 'File',
  fileNotShown: 'cannot be shown',
  table: 'Table',
  task: 'Task',
  attempt: 'An interrupted attempt',
  state: callStates,
  callGroup(counts) {
    const total = counts.reduce((sum, [, count]) => sum + count, 0)
    const ends = counts.map(([state, count]) => `${count} ${callStates[state]}`)
    return `${total} tools: ${ends.join(', ')}`
  },
  callError: errorTextOf,
  ending(ending) {
    const message = endingNoteOf(ending)?.message ?? null
    const isBroken = ending.kind === 'failed' || ending.kind === 'interrupted'
    if (!isBroken || message === null) return message
    // The number of an error is for those who look for it in a log, so it comes last.
    const [, sentence = message, errorNumber = ''] =
      /^(.+?)( \(error [^)]+\))$/s.exec(message) ?? []
    return `${sentence} ${everythingIsSaved}${errorNumber}`
  },
  duration: (ms) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`),

  approvalTitle: (tool) => `Allow “${tool}”?`,
  accept: 'Accept',
  reject: 'Reject',
  acceptAll: (count) => `Accept all ${count}`,
  rejectAll: (count) => `Reject all ${count}`,
  feedback: 'Reason, if you reject (the assistant sees it)',
  unreadArguments: 'Nothing was accepted: the marked field is not complete.',
  decidedBy: (who, decision) => `${decision === 'accepted' ? 'Accepted' : 'Rejected'} by ${who}`,
  decidedByYou: (decision) => (decision === 'accepted' ? 'Accepted by you' : 'Rejected by you'),
  unknownTitle: (tool) => `The outcome of “${tool}” is unknown`,
  unknownBody:
    'The work was interrupted while this tool ran. It may or may not have taken effect. Everything else is saved.',
  retry: 'Run it again',
  done: 'It worked',
  skip: 'Skip it',

  loadResult: (size) => `Show the result (${size})`,
  cardFailed: 'This card could not be displayed. The data is below.',
  items: (count) => (count === 1 ? '1 item' : `${count} items`),
  fields: (count) => (count === 1 ? '1 field' : `${count} fields`),
  more: (count) => `Show ${count} more`,
  moreCharacters: (count) => `Show ${count} more characters`,

  choices: 'For the next answer',
  model: 'Model',
  answeredBy: (model) => model,
  answeredInstead: (model, failed) => `${model} answered, because ${failed} failed`,

  message: 'Message Holdfast…',
  showAll: 'Show all',
  showLess: 'Show less',
  you: 'You',
  assistant: 'Assistant',
  messages: 'Messages',
  send: 'Send',
  stop: 'Stop',
  sendNext: 'Send next',
  steer: 'Send now, into the answer',
  steerHint: 'Enter: next · Ctrl+Enter: into this answer',
  queue: 'Queued messages',
  waitingInputs: (count) =>
    count === 1 ? '1 message is queued.' : `${count} messages are queued.`,
  heldBack: (count) =>
    count === 1
      ? 'Stopped. 1 message was held back.'
      : `Stopped. ${count} messages were held back.`,
  sendNow: 'Send now',
  inputMode: { steer: 'joins at the next step', interrupt: 'interrupts' },
  editQueued: 'Edit message',
  saveQueued: 'Save',
  moveUp: 'Move up',
  moveDown: 'Move down',
  withdraw: 'Remove',
  continue: 'Continue',
  regenerate: 'Regenerate',
  versions: 'Versions',
  versionOf: (number, total) => `Version ${number} of ${total}`,
  previousVersion: 'Previous version',
  nextVersion: 'Next version',
  staysDone: (tools) => `These stay done: ${tools}. Going back does not undo them.`,
  fork: 'Fork',
  rateAnswer: 'Rate this answer',
  rateUp: 'Good answer',
  rateDown: 'Bad answer',
  feedbackComment: 'Comment (optional)',
  sendFeedback: 'Send',
  sharedNote: (sharedAt) =>
    `A shared conversation, as it was on ${sharedAt.toLocaleString('en', { dateStyle: 'long', timeStyle: 'short' })}.`,
  refusedShare: 'This conversation does not exist, or it is no longer shared.',
  edit: 'Edit',
  save: 'Save and send',
  cancel: 'Cancel',
  latest: 'Latest',
  loading: 'Loading…',
  loadingOlder: 'Loading earlier messages…',
  olderLeftOut: 'There are earlier messages. They were not loaded when this was printed.',
  sendFailed: 'Not sent.',
  tryAgain: 'Try again',
  discard: 'Discard',
  reconnecting: 'Reconnecting…',
  savingInterrupted: savingNoteOf('interrupted').message,
  offline: 'You are offline. Everything you see is saved.',
  refused: 'This conversation does not exist, or it is not yours.',
  refusedSignIn: 'Sign in to see this conversation.',
  refusedForbidden: 'You may not see this conversation from here.',
  refusedOther: 'This conversation cannot be shown.',
}
