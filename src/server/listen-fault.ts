import type { ListenOptions } from './listen-options.ts'

/** How the two options are written where the fault is told: those of `listen`, or of a command. */
interface OptionNames {
  readonly port: string
  readonly host: string
}

/** Why a server cannot listen, and what to do; undefined for an error that is not of its port or address. */
export function describeListenFault(
  error: unknown,
  { port, host }: Pick<ListenOptions, 'port' | 'host'>,
  names: OptionNames,
): string | undefined {
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use. Choose another with ${names.port}, or 0 for any.`
    case 'EACCES':
      return `Port ${port} may not be used. Choose one above 1023 with ${names.port}.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}. Choose another with ${names.host}.`
    default:
      return undefined
  }
}
