import type { Json } from '../../core/json.ts'

/** A chunk of an AI SDK UI message stream as it is on the wire: not necessarily written by Holdfast. */
export type StreamChunk = { readonly type: string } & { readonly [field: string]: Json | undefined }

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
