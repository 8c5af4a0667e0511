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

  it('adds the text of the provider, truncated and on one line', () => {
    const { message, sentence } = toModelFault(
      refused(404, 'No model\n\u001b[1mllama-9\u001b[0m\n'),
    )
    expect(message).toBe('The model failed. (No model llama-9)')
    expect(sentence).toBe('The model failed.')
    expect(toModelFault(new Error('x'.repeat(10_000))).message.length).toBeLessThan(400)
  })

  it.each([
    ['Incorrect API key provided: sk-se***et. Get one.', 'Incorrect API key provided: … Get one.'],
    ['Invalid API Key: bad-key-1234', 'Invalid API Key: …'],
    ['Your api key: ****1234 is invalid', 'Your api key: … is invalid'],
    ['No such key sk-proj-abc_DEF', 'No such key …'],
    [
      'Received API Key = gsk_12345abc, Key Hash (Token) =88dc28',
      'Received API Key = …, Key Hash (Token) =…',
    ],
    ['The header was "Bearer abc.def"', 'The header was "Bearer …"'],
    ['It got 88dc28d0f030c55ed4ab.', 'It got ….'],
    ['api_key=abcd1234 is wrong', 'api_key=… is wrong'],
    ['{"api_key":"abc-123-def"}', '{"api_key":"…"}'],
    ['Key provided: "abc-123"', 'Key provided: "…"'],
    ['Authorization: Basic dXNlcg==', 'Authorization: Basic …'],
    ['Password: hunter2', 'Password: …'],
    ['It was eyJhbGciOiJIUzI1NiJ9.eyJzdWIi-x.abc', 'It was …'],
    ['AIzaSyD-abc_def', '…'],
    [
      'No access to claude-sonnet-4-20250514. Set AI_GATEWAY_API_KEY, or see https://example.test/api-keys',
      'No access to claude-sonnet-4-20250514. Set AI_GATEWAY_API_KEY, or see https://example.test/api-keys',
    ],
    [
      'Create an API key: https://example.test/d?to=%2F%5Bteam%5D%2F%7E%2Fai%2Fapi-keys',
      'Create an API key: https://example.test/d?to=%2F%5Bteam%5D%2F%7E%2Fai%2Fapi-keys',
    ],
  ])('says why a key was refused, and no part of the key: %s', (text, detail) => {
    const sentence = 'The model’s provider rejected the API key.'
    expect(toModelFault(refused(401, text))).toEqual({
      code: 'not-authorised',
      message: `${sentence} (${detail})`,
      sentence,
      isRetryable: false,
    })
  })

  it('says why an answer could not be read, without the answer', () => {
    const secret = 'what the model wrote'
    const faults = [
      new JSONParseError({ text: secret, cause: new SyntaxError('Unexpected end of input') }),
      new TypeValidationError({ value: { secret }, cause: new Error('"id" is missing') }),
      new InvalidResponseDataError({ data: { secret }, message: "Expected 'id' to be a string." }),
    ].map((error) => toModelFault(error).message)
    const sentence = 'The model’s answer could not be read.'
    for (const text of [secret, `{"a": ${secret}`, `["${secret}" 1]`, `{"a":1} ${secret}`]) {
      try {
        JSON.parse(text)
      } catch (cause) {
        const { message } = toModelFault(new JSONParseError({ text, cause }))
        expect(message).toMatch(/^The model’s answer could not be read\. \(\w/)
        expect(message).not.toContain('wrote')
        expect(message).not.toContain('what')
      }
    }
    expect(toModelFault(new TypeValidationError({ value: { secret }, cause: null })).message).toBe(
      sentence,
    )
    expect(faults).toEqual([
      `${sentence} (Unexpected end of input)`,
      `${sentence} ("id" is missing)`,
      `${sentence} (Expected 'id' to be a string.)`,
    ])
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
