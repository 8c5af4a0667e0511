import type { streamText } from 'ai'

type KeysOf<Options> = Options extends unknown ? keyof Options : never
/** Every option of the installed SDK's `streamText`. One that is new there is a type error here until it has its line. */
export type StreamTextOption = KeysOf<Parameters<typeof streamText>[0]>

type OptionSupport =
  | readonly [is: 'same', note?: string]
  | readonly [is: 'different' | 'not here', why: string]

const ofProcess = (note: string): OptionSupport => [
  'different',
  `of what this process does; ${note}`,
]
const isOlder = (name: string): OptionSupport => ['not here', `the older name of \`${name}\``]

/** What becomes of each option of `streamText` on an agent, or beside it on `createHoldfast`. */
export const streamTextOptions: Readonly<Record<StreamTextOption, OptionSupport>> = {
  model: ['different', 'may also be a list: the next one is asked where one fails'],
  tools: ['same', 'only these are offered, and only these run; `execute` is told for whom'],
  toolChoice: ['same'],
  instructions: ['same'],
  system: isOlder('instructions'),
  prompt: ['not here', 'the prompt is the thread: `send`'],
  messages: ['not here', 'the messages are the ledger’s; `selectHistory` says which are sent'],
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
  maxRetries: ['same', 'before the first word only; `retryDelayMs` is the first pause'],
  streamRetries: [
    'not here',
    'what was shown is not taken back: the next of a list of models is asked, in a new attempt',
  ],
  abortSignal: ['not here', 'a run belongs to the server: `stop` ends it, from any process'],
  timeout: [
    'different',
    '`firstChunkMs` and `chunkMs` alone; calls have `toolTimeoutMs` and `policies.timeoutMs`, and a turn may take as long as it needs',
  ],
  headers: ['same'],
  stopWhen: [
    'different',
    'the turn then ends at its step limit and can be continued; `maxSteps` (30) holds as well',
  ],
  output: [
    'different',
    'the model is asked for the form; the answer is stored and shown as the text it is',
  ],
  toolApproval: ['same', '`policies` come first'],
  toolsContext: ['same'],
  runtimeContext: [
    'different',
    'is called `context`, may be anything, and is given to tools, approval functions and hooks',
  ],
  prepareStep: [
    'different',
    'called again where another model of the list tries the step; what it returns is carried over as long as the run is in this process: one that is resumed or taken over begins with the agent’s own',
  ],
  providerOptions: ['same'],
  activeTools: ['same'],
  toolOrder: ['same'],
  toolCallConcurrency: ['different', 'is called `toolConcurrency`, and is 10 unless it is said'],
  repairToolCall: ['same'],
  experimental_repairToolCall: ['same', 'the older name of `repairToolCall`'],
  telemetry: [
    'same',
    'a run is one call: a turn that waits and goes on is several. The tracing channel `ai:telemetry` is not written. `traceHooks` gives one trace for a whole turn',
  ],
  experimental_telemetry: isOlder('telemetry'),
  include: ['not here', 'what a provider was sent and said is not kept'],
  experimental_include: isOlder('include'),
  includeRawChunks: ['not here', 'raw chunks are not kept'],
  onStart: ofProcess('also of a turn that is resumed or taken over. `hooks`: `turn-started`'),
  onStepStart: ofProcess('again where another model tries the step. `hooks`: `step-started`'),
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
    'when the turn has failed; it decides nothing. `hooks`: `failed`; what clients read is `errorText`',
  ],
  onAbort: ['different', 'when somebody has stopped the turn. `hooks`: `turn-ended`, `turn-lost`'],
  onChunk: ['not here', 'followers read what was committed: `subscribe`'],
  onLanguageModelCallStart: ofProcess('each time that the provider is tried'),
  onLanguageModelCallEnd: ofProcess('of the times in it only the whole is measured'),
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
    'what a model says is stored before it is shown: a transform would make the two differ. A model can be wrapped (`wrapLanguageModel`)',
  ],
  experimental_download: [
    'not here',
    'files are fetched with a limit of size and time, each once in a run, and what cannot be had is told in words',
  ],
  experimental_refineToolInput: ['not here', 'a tool’s schema may transform its arguments'],
  experimental_sandbox: ['not here', 'tools get what they need as `context`'],
  experimental_steering: [
    'not here',
    'a message that is sent with `whenBusy: "steer"` joins the running turn',
  ],
  experimental_toolCallers: [
    'not here',
    'a call stands for itself: it has a row, a decision and an end',
  ],
  experimental_toolApprovalSecret: [
    'not here',
    'approvals are rows of the database, and not taken from a client’s history',
  ],
  _internal: ['not here', '`clock` and `newId` are what tests need'],
}

/** The guide, as it stands in docs/guides/stream-text-options.md. */
export function toStreamTextGuide(): string {
  const rows = Object.entries(streamTextOptions).map(
    ([name, [is, note = '']]) => `| \`${name}\` | ${is} | ${note} |`,
  )
  return `# The options of streamText

What people write for \`streamText\` works on an agent, or beside it on \`createHoldfast\`, under its name. This table says so of every option that the
installed AI SDK has. It is written by \`npm run stream-text-guide\`; one that is new in the SDK is a type error until it has its line.

| option | here | |
|---|---|---|
${rows.join('\n')}
`
}
