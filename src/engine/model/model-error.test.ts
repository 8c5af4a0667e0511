import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  StreamProviderError,
  TypeValidationError,
} from 'ai'
import { describe, expect, it } from 'vitest'
import { StreamCutError, toModelFault } from './model-error.ts'

const refused = (
  statusCode: number,
  message: string,
  more: { readonly headers?: Record<string, string>; readonly body?: string } = {},
) =>
  new APICallError({
    message,
    statusCode,
    url: 'http://model.test',
    requestBodyValues: {},
    responseHeaders: more.headers ?? {},
    ...(more.body === undefined ? {} : { responseBody: more.body }),
  })
const unreachable = new APICallError({
  message: 'Cannot connect to API: connect ECONNREFUSED 127.0.0.1:1',
  url: 'http://model.test',
  requestBodyValues: {},
  cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
})
const brokenLater = new APICallError({
  message: 'Failed to process successful response',
  statusCode: 200,
  url: 'http://model.test',
  requestBodyValues: {},
  cause: new TypeError('terminated', {
    cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  }),
})
const inStream = (type: string, message = 'Sorry.') => new StreamProviderError({ message, type })

describe('toModelFault', () => {
  it.each([
    ['rate-limited', true, refused(429, 'Rate limit reached: too many tokens per minute')],
    ['rate-limited', true, inStream('rate_limit_error')],
    ['out-of-quota', false, refused(429, 'Sorry', { body: '{"code":"insufficient_quota"}' })],
    ['out-of-quota', false, refused(400, 'Your credit balance is too low to use the API')],
    ['context-overflow', false, refused(400, 'prompt is too long: 9 tokens > 8 maximum')],
    ['context-overflow', false, refused(400, 'Your input exceeds the context window.')],
    ['context-overflow', false, refused(400, 'The input token count (9) exceeds the maximum.')],
    ['context-overflow', false, refused(413, 'Request exceeds the maximum size')],
    ['context-overflow', false, new Error("This model's maximum context length is 8 tokens")],
    ['not-authorised', false, refused(401, 'Incorrect API key provided')],
    ['not-authorised', false, refused(403, 'Your key has no access to this model')],
    ['not-authorised', false, inStream('authentication_error')],
    ['provider-down', true, refused(500, 'Internal server error')],
    ['provider-down', true, refused(529, 'Overloaded')],
    ['provider-down', true, inStream('overloaded_error')],
    ['network', true, unreachable],
    ['network', true, brokenLater],
    ['network', true, new TypeError('fetch failed')],
    ['stream-cut', true, new StreamCutError('no end of the stream')],
    [
      'stream-cut',
      true,
      new InvalidResponseDataError({
        data: undefined,
        message: 'Response stream ended without a finish reason.',
      }),
    ],
    ['bad-response', false, new JSONParseError({ text: '{"id', cause: new Error('cut') })],
    ['bad-response', false, new TypeValidationError({ value: {}, cause: new Error('no') })],
    ['bad-response', false, new InvalidResponseDataError({ data: {}, message: 'No name.' })],
    ['model-error', false, refused(404, 'The model does not exist')],
    ['model-error', false, refused(400, 'A neural network said no')],
    ['model-error', false, 'a string'],
    ['model-error', false, null],
  ])('calls it %s, worth another try: %s (%#)', (code, isRetryable, error) => {
    expect(toModelFault(error)).toMatchObject({ code, isRetryable })
  })

  it('adds the text of the provider, truncated and without keys', () => {
    const { message } = toModelFault(refused(404, 'No model llama-9'))
    expect(message).toBe('The model failed. (No model llama-9)')
    expect(toModelFault(new Error('x'.repeat(10_000))).message.length).toBeLessThan(400)
    const key = 'Incorrect API key provided: sk-se***et.'
    expect(toModelFault(refused(401, key)).message).toBe(
      'The model’s provider rejected the API key.',
    )
  })

  it.each([
    ['milliseconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    ['seconds', { 'retry-after': '2' }, 2_000],
    ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:30 GMT' }, 20_000],
    ['a date that is over', { 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('reads how long to wait from %s', (_, headers, expected) => {
    const fault = toModelFault(refused(429, 'Slow down', { headers }), 10_000)
    expect(fault.retryAfterMs).toBe(expected)
  })
})
