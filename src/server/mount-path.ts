/** Where a framework has mounted the handler, if it is known: Express keeps it in `baseUrl` (OP5d). */
const mounts = new WeakMap<Request, string>()

export function rememberMount(request: Request, path: string): void {
  mounts.set(request, path)
}

/** Undefined if it is not known. */
export const mountOf = (request: Request): string | undefined => mounts.get(request)
