import Telemetry

/// Decides by its headers whether a request may have been made by a page of this console. Pure.
struct RequestRules: Sendable {
    /// The headers that the rules read; nil for an absent one.
    struct Headers: Sendable, Hashable {
        var host: String?
        var origin: String?
        var fetchSite: String?

        init(host: String?, origin: String? = nil, fetchSite: String? = nil) {
            self.host = host
            self.origin = origin
            self.fetchSite = fetchSite
        }
    }

    enum Refusal: Sendable, Hashable {
        /// The request was made for another host (DNS rebinding); answered with 421.
        case unknownHost
        /// Another site has made the request; answered with 403.
        case otherSite
    }

    private let hosts: HostRule
    private let proxy: String?

    init(_ settings: ConsoleSettings) {
        proxy = settings.behindProxy?.lowercased()
        hosts = HostRule(names: settings.hosts + [settings.host] + (settings.behindProxy.map { [$0] } ?? []))
    }

    /// - Parameter acts: whether the request changes something.
    func refusal(of headers: Headers, acts: Bool) -> Refusal? {
        guard let host = headers.host, hosts.admits(host) else { return .unknownHost }
        guard acts else { return nil }
        if let origin = headers.origin {
            // The page's policy `no-referrer` makes browsers hide the origin of its own forms too.
            if origin == "null" { return headers.fetchSite == "same-origin" ? nil : .otherSite }
            return isOwn(origin, host) ? nil : .otherSite
        }
        // Browsers that send no origin send this; other programs send neither, and have no cookies of others.
        if let site = headers.fetchSite, site != "same-origin", site != "none" { return .otherSite }
        return nil
    }

    /// Returns whether an origin, such as `https://console.example`, is the requested host or the proxy.
    private func isOwn(_ origin: String, _ host: String) -> Bool {
        guard let mark = origin.firstRange(of: "://") else { return false }
        let scheme = origin[..<mark.lowerBound].lowercased()
        let authority = origin[mark.upperBound...].lowercased()
        guard scheme == "http" || scheme == "https" else { return false }
        guard authority != host.lowercased() else { return true }
        // A proxy may replace the header `Host`; a port other than the standard one is part of the origin.
        guard let proxy, scheme == "https" else { return false }
        return authority == proxy || authority.hasPrefix(proxy + ":")
    }
}
