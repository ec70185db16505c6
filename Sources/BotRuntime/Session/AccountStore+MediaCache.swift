package import Logging
package import PikaCore
package import Storage

extension AccountStore {
    /// Opens the account's cache of downloaded files; nil limits delete the files and give no cache.
    ///
    /// Without a usable folder the account runs without a cache: every file can be downloaded again.
    package func mediaCache(_ limits: MediaCacheLimits?, logger: Logger) -> any MediaCache {
        do {
            if let limits { return try self.openMediaCache(limits) }
            try self.removeMediaCache()
        } catch {
            logger.warning("The media cache is not available", metadata: ["reason": "\(error)"])
        }
        return NoMediaCache()
    }
}
