import { Component, type ReactNode } from 'react'

interface Props {
  readonly fallback: ReactNode
  readonly children: ReactNode
}

/** A card that throws takes nothing else down (CD2). */
export class CardBoundary extends Component<Props, { readonly failed: boolean }> {
  override readonly state = { failed: false }

  static getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true }
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children
  }
}
