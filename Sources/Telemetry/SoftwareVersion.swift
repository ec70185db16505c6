/// The version of this release, as shown by `pikabot --version` and `bot_info`.
package enum SoftwareVersion {
    package static let current = "0.1.0"
}
