import Appliance

/// A request that follows from a change of the state, to be sent after the state is stored.
enum KitchenWork: Hashable, Sendable {
    case send(CommandRequest, ApplianceRoute, appliance: String)
    /// Read the status of an order's session.
    case readStatus(order: String)
    /// Bring everything that waits to the cloud, and read what is new there.
    case synchronize
}
