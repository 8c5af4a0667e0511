import type { CallState } from '../core/call.ts'
import type { TurnEnding } from '../core/message.ts'
import type { UnsuccessfulCall } from '../views/wording.ts'

/** Everything that the widgets say. A host replaces what it likes, for another language or voice. */
export interface Strings {
  /** The line of a turn that has neither said nor called anything yet. */
  readonly thinking: string
  /** The line of a turn while a tool runs; `tool` is its title. */
  readonly working: (tool: string) => string
  /** How far a tool is; without a total it has only counted. A total of 1 or 100 means a percentage. */
  readonly progress: (done: number, total: number | undefined) => string
  /** For how long a tool has been running, by the second. */
  readonly runningFor: (ms: number) => string
  /** The line of a turn whose calls succeeded. */
  readonly used: (count: number) => string
  /** The line of a turn in which calls failed. */
  readonly failedOf: (failed: number, total: number) => string
  /** The line of a turn whose calls were stopped. */
  readonly stopped: string
  /** Nothing was used, because a person said no to all of it. */
  readonly declined: string
  /** The line of a turn that waits for an approval. */
  readonly waiting: string
  /** The line of a turn with a call whose outcome nobody knows. */
  readonly unknown: string
  /** The line that stands for many calls that have ended; how many of them ended how. */
  readonly callGroup: (counts: readonly (readonly [state: CallState, count: number])[]) => string
  /** Opens the arguments of a call. */
  readonly arguments: string
  /** Opens the result of a call. */
  readonly result: string
  /** The button that copies a call. */
  readonly copyJson: string
  /** What a button that copies says for a moment. */
  readonly copied: string
  /** The button that copies an answer, a message or code. */
  readonly copy: string
  /** The button that shows when what ran, and the name of what it shows. */
  readonly timeline: string
  /** A bar of the timeline; counted from 1. */
  readonly step: (number: number) => string
  /** Opens how the model reasoned. */
  readonly reasoning: string
  /** The name of the list of sources. */
  readonly sources: string
  /** The button that attaches files to a message. */
  readonly attach: string
  /** What is said where files can be dropped. */
  readonly dropFiles: string
  /** The name of the list of what is attached. */
  readonly attachments: string
  /** The button that takes a file out of the message, or ends its upload. */
  readonly removeFile: (name: string) => string
  /** The button that sends a file again that could not be sent. */
  readonly retryFile: (name: string) => string
  /** How large a file is. */
  readonly fileSize: (bytes: number) => string
  /** A file without a name; its media type follows. */
  readonly file: string
  /** The name of a table in an answer, for screen readers. */
  readonly table: string
  /** The name of a checkbox in an answer, for screen readers. */
  readonly task: string
  /** Opens what was said before a step was broken off and run again. */
  readonly attempt: string
  /** Where a call stands. */
  readonly state: Readonly<Record<CallState, string>>
  /** What became of a call that did not succeed. */
  readonly callError: (call: UnsuccessfulCall) => string
  /** What is said of a turn that did not end as it should; null: nothing. */
  readonly ending: (ending: TurnEnding) => string | null
  /** How long something took. */
  readonly duration: (ms: number) => string

  /** The question above the arguments of a call that waits; `tool` is its title. */
  readonly approvalTitle: (tool: string) => string
  /** The button that lets a call run. */
  readonly accept: string
  /** The button that keeps a call from running. */
  readonly reject: string
  /** The button that lets all waiting calls run. */
  readonly acceptAll: (count: number) => string
  /** The button that keeps all waiting calls from running. */
  readonly rejectAll: (count: number) => string
  /** The field for the reason of a rejection. */
  readonly feedback: string
  /** Who decided on a call, and how. */
  readonly decidedBy: (who: string, decision: 'accepted' | 'rejected') => string
  /** Above a call whose outcome nobody knows; `tool` is its title. */
  readonly unknownTitle: (tool: string) => string
  /** What that means. */
  readonly unknownBody: string
  /** The button that runs such a call again. */
  readonly retry: string
  /** The button that says that such a call took effect. */
  readonly done: string
  /** The button that goes on without such a call. */
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

  /** The name of what can be chosen for the next answer, for screen readers. */
  readonly choices: string
  /** The name of the list of models. */
  readonly model: string
  /** Which model made an answer, where there are several to pick from. */
  readonly answeredBy: (model: string) => string
  /** Which model made an answer in the place of one that failed. */
  readonly answeredInstead: (model: string, failed: string) => string

  /** The composer, while it is empty, and its name for screen readers. */
  readonly message: string
  /** The name of what a person wrote, for screen readers. */
  readonly you: string
  /** The name of a turn, for screen readers. */
  readonly assistant: string
  /** The name of the list of messages, for screen readers. */
  readonly messages: string
  /** The button that sends a message. */
  readonly send: string
  /** The button that ends a turn that runs or waits. */
  readonly stop: string
  /** The button that sends a message while a turn runs: it is answered after that. */
  readonly sendNext: string
  /** The button that sends a message into the turn that runs. */
  readonly steer: string
  /** The name of the list of messages that wait for their turn, for screen readers. */
  readonly queue: string
  /** Above the messages that wait for their turn. */
  readonly waitingInputs: (count: number) => string
  /** Above messages that a stop held back. */
  readonly heldBack: (count: number) => string
  /** The button that sends on what a stop held back. */
  readonly sendNow: string
  /** How a message that waits meets the turn that runs, where it does not wait for its own. */
  readonly inputMode: Readonly<Record<'steer' | 'interrupt', string>>
  /** The button that edits a message that waits, and the name of its field. */
  readonly editQueued: string
  /** The button that keeps an edited message that waits. */
  readonly saveQueued: string
  /** The button that puts a message that waits before the one above it. */
  readonly moveUp: string
  /** The button that puts a message that waits behind the one below it. */
  readonly moveDown: string
  /** The button that takes back a message that waits. */
  readonly withdraw: string
  /** The button that goes on with a turn that was broken off or ran out of steps. */
  readonly continue: string
  /** The button that answers again. */
  readonly regenerate: string
  /** The name of what shows which version of a message there is, for screen readers. */
  readonly versions: string
  /** Which version is shown, for screen readers; counted from 1. */
  readonly versionOf: (number: number, total: number) => string
  /** The button that shows the version before. */
  readonly previousVersion: string
  /** The button that shows the version after. */
  readonly nextVersion: string
  /** What going back did not undo; `tools` are their names. */
  readonly staysDone: (tools: string) => string
  /** The button that makes a thread of its own from the messages up to here. */
  readonly fork: string
  /** The name of the two buttons that rate an answer, for screen readers. */
  readonly rateAnswer: string
  /** The button that says that an answer is good. */
  readonly rateUp: string
  /** The button that says that an answer is bad. */
  readonly rateDown: string
  /** The field for a word on an answer that was rated. */
  readonly feedbackComment: string
  /** The button that sends that word. */
  readonly sendFeedback: string
  /** Below a conversation that is shown through a link. */
  readonly sharedNote: (sharedAt: Date) => string
  /** A link was revoked, or there never was one. */
  readonly refusedShare: string
  /** The button that edits a message, and the name of its field. */
  readonly edit: string
  /** The button that sends an edited message. */
  readonly save: string
  /** The button that leaves a message as it was. */
  readonly cancel: string
  /** The button that scrolls to the end. */
  readonly latest: string
  /** Said to screen readers while a thread is loaded. */
  readonly loading: string
  /** At the top of the list while older messages are loaded. */
  readonly loadingOlder: string
  /** Stands on paper where older messages were not loaded. */
  readonly olderLeftOut: string
  /** Before the reason why a message could not be sent. */
  readonly sendFailed: string
  /** The button that sends such a message again. */
  readonly tryAgain: string
  /** The button that gives up such a message. */
  readonly discard: string
  /** The connection was lost and is tried again. */
  readonly reconnecting: string
  /** The server cannot store anything right now. */
  readonly savingInterrupted: string
  /** The device has no network. */
  readonly offline: string
  /** The thread is gone, or belongs to somebody else. */
  readonly refused: string
  /** Nobody is signed in, or no longer (401). */
  readonly refusedSignIn: string
  /** Who is signed in, or the page, may not come here (403). */
  readonly refusedForbidden: string
  /** The server will not show it for another reason. */
  readonly refusedOther: string
}
