/// The version of this release, as shown by `pikabot --version` and `bot_info`.
public enum SoftwareVersion {
    public static let current = "0.1.0"
}
