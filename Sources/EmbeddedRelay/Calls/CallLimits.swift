/// Limits of the call relay, for one connection unless stated otherwise.
package struct CallLimits: Hashable, Sendable {
    /// Open channels; a call of one audio track needs two.
    package var channelsPerConnection = 64
    /// Subscribers of one track; a call has one.
    package var subscribersPerTrack = 8
    /// Tracks of all connections together, published or awaited.
    package var tracks = 4_096
    /// Frames per second that are forwarded, with bursts of twice as many; further ones are dropped.
    package var groupsPerSecond = 400
    /// The same in bytes. Video has some 200 kB per second.
    package var bytesPerSecond = 2 << 20
    /// Frames queued for a slow reader, and their size in bytes; beyond either the oldest are dropped.
    package var queuedGroups = 128
    package var queuedBytes = 4 << 20
    /// Time between pings; a connection that sent nothing between two of them is closed.
    package var pingInterval: Duration = .seconds(15)
    /// Time that a connection may have no open channel.
    package var idleTimeout: Duration = .seconds(30)

    package init() {}
}
