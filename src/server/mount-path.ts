/** Where a framework has mounted the handler, as far as it says so: Express keeps it in `baseUrl` (OP5d). */
const mounts = new WeakMap<Request, string>()

export function rememberMount(request: Request, path: string): void {
  mounts.set(request, path)
}

/** Undefined where nobody said. */
export const mountOf = (request: Request): string | undefined => mounts.get(request)
