import { badOption, describeValue } from '../core/check-options.ts'

// JavaScript has no compiler that would say so: without these checks the first request fails, in the middle of something.

export function checkHoldfast(where: string, value: unknown): void {
  if (isHoldfast(value)) return
  throw badOption(`${where} takes what createHoldfast returned, not ${describeValue(value)}.`)
}

/** @param call the right call, where a holdfast was passed. */
export function checkHandler(where: string, value: unknown, call: string): void {
  if (typeof value === 'function') return
  throw badOption(
    isHoldfast(value)
      ? `${where} takes a handler: ${call}.`
      : `${where} takes a handler, a function (Request) => Promise<Response>, not ${describeValue(value)}.`,
  )
}

const isHoldfast = (value: unknown): boolean => hasMethods(value, ['send', 'running', 'settled'])

/** @param response what Node and its frameworks pass beside the request, and nobody else does. */
export function checkNodeResponse(where: string, response: unknown): void {
  if (isObject(response)) return
  throw badOption(
    `${where} has made this handler for node:http, Express or Fastify. Pass listen, Hono or Next the handler that it was made from.`,
  )
}

export const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof value[name] === 'function')

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
