export { createHandler, type Handler } from './create-handler.ts'
export type { HandlerOptions, Limits, RequestRecord } from './handler-options.ts'
export { listen, type Listening, type ListenOptions } from './node-listener.ts'
