import type { CallState } from '../core/call.ts'
import type { TurnEnding } from '../core/message.ts'
import type { UnsuccessfulCall } from '../views/call-error-text.ts'

/** All strings of the widgets. A host application may replace any of them, for another language or tone. */
export interface Strings {
  /** The line of a turn without any text or call yet. */
  readonly thinking: string
  /** The line of a turn while a tool runs; `tool` is its title. */
  readonly working: (tool: string) => string
  /** The progress of a tool; without a total only a count is known. A total of 1 or 100 means a percentage. */
  readonly progress: (done: number, total: number | undefined) => string
  /** How long a tool has been running, updated every second. */
  readonly runningFor: (ms: number) => string
  /** The line of a turn whose calls succeeded. */
  readonly used: (count: number) => string
  /** The line of a turn in which calls failed. */
  readonly failedOf: (failed: number, total: number) => string
  /** The line of a turn whose calls were stopped. */
  readonly stopped: string
  /** The line of a turn whose calls were all rejected by a person. */
  readonly declined: string
  /** The line of a turn that waits for an approval. */
  readonly waiting: string
  /** The line of a turn with a call whose outcome is unknown. */
  readonly unknown: string
  /** The line of a group of ended calls: how many of them ended in each state. */
  readonly callGroup: (counts: readonly (readonly [state: CallState, count: number])[]) => string
  /** Opens the arguments of a call. */
  readonly arguments: string
  /** Opens the result of a call. */
  readonly result: string
  /** The button that copies a call. */
  readonly copyJson: string
  /** The label of a copy button for a moment after it was pressed. */
  readonly copied: string
  /** The button that copies an answer, a message or code. */
  readonly copy: string
  /** The button that shows when each step and call ran, and the name of the timeline. */
  readonly timeline: string
  /** A bar of the timeline; counted from 1. */
  readonly step: (number: number) => string
  /** Opens the model's reasoning. */
  readonly reasoning: string
  /** The name of the list of sources. */
  readonly sources: string
  /** The button that attaches files to a message. */
  readonly attach: string
  /** The hint on a drop zone for files. */
  readonly dropFiles: string
  /** The name of the list of attached files. */
  readonly attachments: string
  /** The button that removes a file from the message, or cancels its upload. */
  readonly removeFile: (name: string) => string
  /** The button that uploads a file again that failed. */
  readonly retryFile: (name: string) => string
  /** How large a file is. */
  readonly fileSize: (bytes: number) => string
  /** Behind the type of a file that is not there, or of an image that the browser cannot show. */
  readonly fileNotShown: string
  /** A file without a name; its media type follows. */
  readonly file: string
  /** The name of a table in an answer, for screen readers. */
  readonly table: string
  /** The name of a checkbox in an answer, for screen readers. */
  readonly task: string
  /** Opens the output of a step that was broken off and run again. */
  readonly attempt: string
  /** The states of a call. */
  readonly state: Readonly<Record<CallState, string>>
  /** The error text of a call that did not succeed. */
  readonly callError: (call: UnsuccessfulCall) => string
  /** The note on a turn that did not complete; null: none. */
  readonly ending: (ending: TurnEnding) => string | null
  /** How long something took. */
  readonly duration: (ms: number) => string

  /** The question above the arguments of a call that waits; `tool` is its title. */
  readonly approvalTitle: (tool: string) => string
  /** The button that lets a call run. */
  readonly accept: string
  /** The button that rejects a call. */
  readonly reject: string
  /** The button that lets all waiting calls run. */
  readonly acceptAll: (count: number) => string
  /** The button that rejects all waiting calls. */
  readonly rejectAll: (count: number) => string
  /** The field for the reason of a rejection. */
  readonly feedback: string
  /** After accepting arguments of which a field has no value yet, such as half-typed JSON. */
  readonly unreadArguments: string
  /** Who decided on a call, and how. */
  readonly decidedBy: (who: string, decision: 'accepted' | 'rejected') => string
  /** The same where the reader decided. */
  readonly decidedByYou: (decision: 'accepted' | 'rejected') => string
  /** Above a call whose outcome is unknown; `tool` is its title. */
  readonly unknownTitle: (tool: string) => string
  /** The explanation of an unknown outcome. */
  readonly unknownBody: string
  /** The button that runs such a call again. */
  readonly retry: string
  /** The button that marks such a call as succeeded. */
  readonly done: string
  /** The button that continues without such a call. */
  readonly skip: string

  /** The button that loads a large result; `size` has its unit. */
  readonly loadResult: (size: string) => string
  /** Above the data of a card that threw. */
  readonly cardFailed: string
  /** A folded list in JSON. */
  readonly items: (count: number) => string
  /** A folded object in JSON. */
  readonly fields: (count: number) => string
  /** The button that shows the rest of a long list or object. */
  readonly more: (count: number) => string
  /** The button that shows the rest of a long text. */
  readonly moreCharacters: (count: number) => string

  /** The name of the choices for the next answer, for screen readers. */
  readonly choices: string
  /** The name of the list of models. */
  readonly model: string
  /** The model that produced an answer, if there are several to pick from. */
  readonly answeredBy: (model: string) => string
  /** The model that produced an answer in place of one that failed. */
  readonly answeredInstead: (model: string, failed: string) => string

  /** The placeholder of the composer, and its name for screen readers. */
  readonly message: string
  /** The button that unfolds a long message of a person. */
  readonly showAll: string
  /** The button that folds it again. */
  readonly showLess: string
  /** The name of a person's message, for screen readers. */
  readonly you: string
  /** The name of a turn, for screen readers. */
  readonly assistant: string
  /** The name of the list of messages, for screen readers. */
  readonly messages: string
  /** The button that sends a message. */
  readonly send: string
  /** The button that ends a turn that runs or waits. */
  readonly stop: string
  /** The button that sends a message while a turn runs: it is answered after that turn. */
  readonly sendNext: string
  /** The button that sends a message into the running turn. */
  readonly steer: string
  /** Beside the buttons while a message can be queued or steer the turn: which key does which. Hidden from screen readers. */
  readonly steerHint: string
  /** The name of the list of queued messages, for screen readers. */
  readonly queue: string
  /** Above the queued messages. */
  readonly waitingInputs: (count: number) => string
  /** Above messages that a stop held back. */
  readonly heldBack: (count: number) => string
  /** The button that releases held messages. */
  readonly sendNow: string
  /** What a queued message does to the running turn, if it does not wait for its own. */
  readonly inputMode: Readonly<Record<'steer' | 'interrupt', string>>
  /** The button that edits a queued message, and the name of its field. */
  readonly editQueued: string
  /** The button that saves an edited queued message. */
  readonly saveQueued: string
  /** The button that moves a queued message up. */
  readonly moveUp: string
  /** The button that moves a queued message down. */
  readonly moveDown: string
  /** The button that withdraws a queued message. */
  readonly withdraw: string
  /** The button that continues a turn that was broken off or ran out of steps. */
  readonly continue: string
  /** The button that regenerates an answer. */
  readonly regenerate: string
  /** The name of the version switch of a message, for screen readers. */
  readonly versions: string
  /** Which version is shown, for screen readers; counted from 1. */
  readonly versionOf: (number: number, total: number) => string
  /** The button that shows the previous version. */
  readonly previousVersion: string
  /** The button that shows the next version. */
  readonly nextVersion: string
  /** What going back did not undo; `tools` are the titles of the tools. */
  readonly staysDone: (tools: string) => string
  /** The button that forks the thread at a message. */
  readonly fork: string
  /** The name of the two buttons that rate an answer, for screen readers. */
  readonly rateAnswer: string
  /** The button that rates an answer as good. */
  readonly rateUp: string
  /** The button that rates an answer as bad. */
  readonly rateDown: string
  /** The field for a comment on a rated answer. */
  readonly feedbackComment: string
  /** The button that sends the comment. */
  readonly sendFeedback: string
  /** Below a shared conversation. */
  readonly sharedNote: (sharedAt: Date) => string
  /** A link was revoked, or never existed. */
  readonly refusedShare: string
  /** The button that edits a message, and the name of its field. */
  readonly edit: string
  /** The button that sends an edited message. */
  readonly save: string
  /** The button that discards an edit. */
  readonly cancel: string
  /** The button that scrolls to the end. */
  readonly latest: string
  /** Announced to screen readers while a thread is loaded. */
  readonly loading: string
  /** At the top of the list while older messages are loaded. */
  readonly loadingOlder: string
  /** Printed where older messages were not loaded. */
  readonly olderLeftOut: string
  /** Before the reason why a message could not be sent. */
  readonly sendFailed: string
  /** The button that sends such a message again. */
  readonly tryAgain: string
  /** The button that discards such a message. */
  readonly discard: string
  /** The connection was lost and is being retried. */
  readonly reconnecting: string
  /** The server cannot store anything right now. */
  readonly savingInterrupted: string
  /** The device has no network. */
  readonly offline: string
  /** The thread does not exist, or belongs to another owner. */
  readonly refused: string
  /** Nobody is signed in, or no longer (401). */
  readonly refusedSignIn: string
  /** The signed-in person, or the page, has no access (403). */
  readonly refusedForbidden: string
  /** The server refuses it for another reason. */
  readonly refusedOther: string
}
