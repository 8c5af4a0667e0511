import '../assert-node.ts'
export { createHandler, type Handler } from './create-handler.ts'
export type { HandlerOptions, Limits, RequestRecord } from './handler-options.ts'
export { defaultForwardHeaders, type ForwardHeaders } from './backend-request.ts'
export type { ListenOptions, NodeListenerOptions } from './listen-options.ts'
export { listen, type Listening, toNodeListener } from './node-listener.ts'
export {
  type FastifyReplyLike,
  type FastifyRequestLike,
  type NodeHandler,
  type NodeRequest,
  toNodeHandler,
} from './node-handler.ts'
export { nodeRequestOf } from './node-request.ts'
export { createRecordingProxy, type RecordingProxyOptions } from './recording-proxy.ts'
export { translateDataStream, type TranslateOptions } from './translate-data-stream.ts'
export type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'
// Types that occur in the signatures above.
export type {
  CallNote as StreamCallNote,
  DataStreamReaderOptions,
} from '../protocol/data-stream/read-data-stream.ts'
export type { ForwardedHistory } from './backend-body.ts'
