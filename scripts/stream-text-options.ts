import type { streamText } from 'ai'

type KeysOf<Options> = Options extends unknown ? keyof Options : never
/** Every option of the installed SDK's `streamText`. One that is new there is a type error here until it has its line. */
export type StreamTextOption = KeysOf<Parameters<typeof streamText>[0]>

type OptionSupport =
  | readonly [is: 'same', note?: string]
  | readonly [is: 'different' | 'not here', why: string]

const ofProcess = (note: string): OptionSupport => [
  'different',
  `for runs in this process; ${note}`,
]
const isOlder = (name: string): OptionSupport => ['not here', `the older name of \`${name}\``]

/** What becomes of each option of `streamText` on an agent, or beside it on `createHoldfast`. */
export const streamTextOptions: Readonly<Record<StreamTextOption, OptionSupport>> = {
  model: ['different', 'may also be a list: if one fails, the next is tried'],
  tools: [
    'same',
    'only these are offered, and only these run; `execute` also gets the owner, thread, turn and call',
  ],
  toolChoice: ['same'],
  instructions: ['same'],
  system: isOlder('instructions'),
  prompt: ['not here', 'the prompt is the thread: `send`'],
  messages: [
    'not here',
    'the messages come from the ledger; `selectHistory` selects those that are sent',
  ],
  allowSystemInMessages: ['not here', 'system messages of a thread are always sent'],
  maxOutputTokens: ['same'],
  temperature: ['same'],
  topP: ['same'],
  topK: ['same'],
  presencePenalty: ['same'],
  frequencyPenalty: ['same'],
  stopSequences: ['same'],
  seed: ['same'],
  reasoning: ['same'],
  maxRetries: ['same', 'only before the first output; `retryDelayMs` is the first pause'],
  streamRetries: [
    'not here',
    'shown text is not removed: the next of a list of models is tried, in a new attempt',
  ],
  abortSignal: ['not here', 'a run belongs to the server: `stop` ends it, from any process'],
  timeout: [
    'different',
    'only `firstChunkMs` and `chunkMs`; calls have `toolTimeoutMs` and `policies.timeoutMs`, and a turn has no time limit',
  ],
  headers: ['same'],
  stopWhen: [
    'different',
    'the turn then ends at its step limit and can be continued; `maxSteps` (30) also applies',
  ],
  output: [
    'different',
    'the model is asked for this format; the answer is stored and shown as text',
  ],
  toolApproval: ['same', '`policies` take precedence'],
  toolsContext: ['same'],
  runtimeContext: [
    'different',
    'is called `context`, may be any value, and is passed to tools, approval functions and hooks',
  ],
  prepareStep: [
    'different',
    'called again if another model of the list tries the step; its result carries over to later steps of the same run; a resumed or taken-over run begins with the agent’s own settings',
  ],
  providerOptions: ['same'],
  activeTools: ['same'],
  toolOrder: ['same'],
  toolCallConcurrency: ['different', 'is called `toolConcurrency`, default 10'],
  repairToolCall: ['same'],
  experimental_repairToolCall: ['same', 'the older name of `repairToolCall`'],
  telemetry: [
    'same',
    'a run is one call: a turn that waits and continues is several. The tracing channel `ai:telemetry` is not written. `traceHooks` creates one trace for a whole turn',
  ],
  experimental_telemetry: isOlder('telemetry'),
  include: ['not here', 'requests to and responses of providers are not kept'],
  experimental_include: isOlder('include'),
  includeRawChunks: ['not here', 'raw chunks are not kept'],
  onStart: ofProcess('also for a resumed or taken-over turn. `hooks`: `turn-started`'),
  onStepStart: ofProcess('again if another model tries the step. `hooks`: `step-started`'),
  onStepEnd: ofProcess('`hooks`: `step-ended`'),
  onStepFinish: ['different', 'the older name of `onStepEnd`'],
  onStepError: ofProcess('another model may follow. `hooks`: `failed`, `model-replaced`'),
  onFinish: ['different', 'the older name of `onEnd`'],
  onEnd: [
    'different',
    'when the turn has ended by itself, not while it waits; in the process that ended it. `hooks`: `turn-ended`',
  ],
  onError: [
    'different',
    'when the turn has failed; its result is ignored. `hooks`: `failed`; `errorText` returns the text for clients',
  ],
  onAbort: ['different', 'when a person has stopped the turn. `hooks`: `turn-ended`, `turn-lost`'],
  onChunk: ['not here', 'followers read what was committed: `subscribe`'],
  onLanguageModelCallStart: ofProcess('for each attempt'),
  onLanguageModelCallEnd: ofProcess('of its durations only the total is measured'),
  onToolExecutionStart: ofProcess('`hooks`: `call-started`'),
  onToolExecutionEnd: ofProcess('`hooks`: `call-ended`'),
  experimental_onStart: isOlder('onStart'),
  experimental_onStepStart: isOlder('onStepStart'),
  experimental_onLanguageModelCallStart: isOlder('onLanguageModelCallStart'),
  experimental_onLanguageModelCallEnd: isOlder('onLanguageModelCallEnd'),
  experimental_onToolCallStart: isOlder('onToolExecutionStart'),
  experimental_onToolCallFinish: isOlder('onToolExecutionEnd'),
  experimental_transform: [
    'not here',
    'output is stored before it is shown, and a transform would make the two differ. Wrap the model instead (`wrapLanguageModel`)',
  ],
  experimental_download: [
    'not here',
    'files are downloaded once per run, with limits of size and time; a missing file is replaced by a sentence',
  ],
  experimental_refineToolInput: ['not here', 'a tool’s schema may transform its arguments'],
  experimental_sandbox: ['not here', 'pass what tools need as `context`'],
  experimental_steering: [
    'not here',
    'a message that is sent with `whenBusy: "steer"` joins the running turn',
  ],
  experimental_toolCallers: [
    'not here',
    'each call is independent: it has its own row, decision and end',
  ],
  experimental_toolApprovalSecret: [
    'not here',
    'approvals are rows of the database and are not read from a client’s history',
  ],
  _internal: ['not here', 'for tests, use `clock` and `newId`'],
}

/** The guide, as it stands in docs/guides/stream-text-options.md. */
export function toStreamTextGuide(): string {
  const rows = Object.entries(streamTextOptions).map(
    ([name, [is, note = '']]) => `| \`${name}\` | ${is} | ${note} |`,
  )
  return `# The options of streamText

Options of \`streamText\` have the same names on an agent and on \`createHoldfast\`. This table lists every option of the
installed AI SDK. It is generated by \`npm run stream-text-guide\`; a new option of the SDK is a type error until it has a line.

| option | here | |
|---|---|---|
${rows.join('\n')}
`
}
