import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const imported = /^@import '(?<path>\.[^']+)';\n/gm

/**
 * A stylesheet with each relative `@import` replaced by the file it names, in place: order decides between
 * rules of equal weight. The package ships one file, which also works in a page without a build tool.
 */
export const joinStyles = (file: string): string =>
  readFileSync(file, 'utf8').replace(
    imported,
    (_, path: string) => `\n${joinStyles(join(dirname(file), path))}`,
  )
