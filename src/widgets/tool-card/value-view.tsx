import type { ReactNode } from 'react'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { safeImage } from '../markdown/safe-address.ts'
import { FileView, StoredFileView } from '../message/file-view.tsx'
import { JsonView } from './json-view.tsx'
import { isStoredFile } from './stored-file.ts'

/** A value by its kind: a file, an image, a table, or JSON. */
export function ValueView({ value }: { readonly value: Json }): ReactNode {
  if (isFile(value)) return <ResultFile value={value} />
  const image = imageOf(value)
  if (image !== undefined) return <img className="hf-image" src={image} alt="" />
  const rows = rowsOf(value)
  if (rows !== undefined) return <ValueTable rows={rows} />
  return <JsonView value={value} />
}

/** The address of a server file, alone or with its type: what a file that a tool returned has become (FL1). */
export const isFile = (value: Json): value is string | FileObject =>
  typeof value === 'string'
    ? isStoredFile(value)
    : isJsonObject(value) &&
      typeof value.url === 'string' &&
      typeof value.mediaType === 'string' &&
      isStoredFile(value.url)

interface FileObject extends JsonObject {
  readonly url: string
  readonly mediaType: string
}

function ResultFile({ value }: { readonly value: string | FileObject }): ReactNode {
  if (typeof value === 'string') return <StoredFileView url={value} />
  const { url, mediaType, filename } = value
  const named = typeof filename === 'string' ? { filename } : {}
  return <FileView url={url} mediaType={mediaType} {...named} />
}

function imageOf(value: Json): string | undefined {
  if (typeof value === 'string') return value.startsWith('data:') ? safeImage(value) : undefined
  if (!isJsonObject(value)) return undefined
  const { url, data, mediaType } = value
  if (typeof mediaType !== 'string' || !mediaType.startsWith('image/')) return undefined
  if (typeof url === 'string') return safeImage(url)
  return typeof data === 'string' ? safeImage(`data:${mediaType};base64,${data}`) : undefined
}

const mostColumns = 8
const mostRows = 200

/** A list of objects with the same few plain fields. */
function rowsOf(value: Json): readonly JsonObject[] | undefined {
  if (!Array.isArray(value) || value.length < 2 || value.length > mostRows) return undefined
  const rows = value as readonly Json[]
  if (!rows.every(isJsonObject)) return undefined
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  const isPlain = rows.every((row) =>
    Object.values(row).every((cell) => typeof cell !== 'object' || cell === null),
  )
  return names.size > 0 && names.size <= mostColumns && isPlain ? rows : undefined
}

function ValueTable({ rows }: { readonly rows: readonly JsonObject[] }): ReactNode {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return (
    // Focusable, so that a wide table can be scrolled by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard
    <section className="hf-table" aria-label={names.join(', ')} tabIndex={0}>
      <table dir="auto">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name}>{toCell(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const toCell = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value)
