interface NamedFile {
  readonly filename?: string | undefined
  readonly mediaType?: string | undefined
}

const nameOf = ({ filename = '', mediaType }: NamedFile): string =>
  `${filename === '' ? 'a file' : filename}${mediaType === undefined ? '' : ` (${mediaType})`}`

/** In place of a file of a type that the model does not accept. */
export const refusedFileText = (file: NamedFile): string =>
  `[${nameOf(file)} cannot be shown to this model]`

/** In place of a file that is gone, or that the prompt has no room for. */
export const missingFileText = (file: NamedFile): string => `[${nameOf(file)} could not be loaded]`
